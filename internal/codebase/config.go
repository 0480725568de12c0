package codebase

import (
	"cmp"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
)

// Folders of kubebuilder's layouts.
const (
	configFolder   = "config"
	DeployedFolder = configFolder + "/default" // what `make deploy` applies by default
)

// IsKustomization reports whether a file's name is one that kustomize recognizes.
func IsKustomization(file string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(file))
}

// Kustomization returns the kustomization file of a folder: the first name that kustomize recognizes. It returns "" for
// a folder without one.
func (c *Codebase) Kustomization(folder string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(folder, name)
		if isRegular(c.view, file) {
			return file
		}
	}
	return ""
}

// KustomizationFor is like [Codebase.Kustomization], but in a folder without one it returns the file to create.
func (c *Codebase) KustomizationFor(folder string) string {
	return cmp.Or(c.Kustomization(folder), path.Join(folder, konfig.DefaultKustomizationFileName()))
}

// ConfigFolder returns the folder of a part of the configuration, such as "crd". By default that is config/crd. If it
// has no kustomization but exactly one folder such as config/components/crd has, it is that one.
func (c *Codebase) ConfigFolder(part string) string {
	usual := path.Join(configFolder, part)
	if c.Kustomization(usual) != "" {
		return usual
	}
	entries, err := c.view.ReadDir(configFolder)
	if err != nil {
		return usual // the caller that writes there reports the error
	}
	var found []string
	for _, entry := range entries {
		if folder := path.Join(configFolder, entry.Name(), part); entry.IsDir() && c.Kustomization(folder) != "" {
			found = append(found, folder)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return usual
}

// CRDListFolder returns the folder whose kustomization lists the CRDs: config/crd, or another one as in
// [Codebase.ConfigFolder].
func (c *Codebase) CRDListFolder() string { return c.ConfigFolder("crd") }

// LayoutCRDFolder returns the folder of CRDs below [Codebase.CRDListFolder], where layouts have it.
func (c *Codebase) LayoutCRDFolder() string {
	return path.Join(c.CRDListFolder(), path.Base(CRDFolder))
}

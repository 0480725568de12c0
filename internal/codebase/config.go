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
	DeployedFolder = configFolder + "/default" // what is deployed
	CRDListFolder  = configFolder + "/crd"     // lists the definitions
)

// IsKustomization reports whether a file is one, by its name.
func IsKustomization(file string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(file))
}

// Kustomization is the file of a folder's kustomization, under the name that it has there: the first of those that
// kustomize knows. It is "" in a folder without one.
func (c *Codebase) Kustomization(folder string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(folder, name)
		if isRegular(c.view, file) {
			return file
		}
	}
	return ""
}

// KustomizationFor is that file or, in a folder without one, the file that it would get.
func (c *Codebase) KustomizationFor(folder string) string {
	return cmp.Or(c.Kustomization(folder), path.Join(folder, konfig.DefaultKustomizationFileName()))
}

// ConfigFolder is where the project has a part of its configuration, such as "crd": in config, as layouts have it, or
// where that has none in the one folder below config that has it, such as config/components/crd.
func (c *Codebase) ConfigFolder(part string) string {
	usual := path.Join(configFolder, part)
	if c.Kustomization(usual) != "" {
		return usual
	}
	entries, err := c.view.ReadDir(configFolder)
	if err != nil {
		return usual // who writes there says what is wrong with the folder
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

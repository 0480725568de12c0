package newapi

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/konfig"
)

// configFolder is where the project has a part of its configuration, such as "crd": in config, as layouts have it, or
// where that has none in the one folder below config that has it, such as config/components/crd.
func (a *planner) configFolder(part string) string {
	usual := path.Join("config", part)
	if a.kustomizes(usual) {
		return usual
	}
	entries, err := os.ReadDir(filepath.Join(a.Root(), "config"))
	if err != nil {
		return usual // a plan says what is wrong with the folder
	}
	var found []string
	for _, entry := range entries {
		if dir := path.Join("config", entry.Name(), part); entry.IsDir() && a.kustomizes(dir) {
			found = append(found, dir)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return usual
}

func (a *planner) kustomizes(dir string) bool { return a.kustomization(dir) != "" }

// kustomization is that of a folder, by whichever of its names, or "".
func (a *planner) kustomization(dir string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(dir, name)
		if info, err := os.Lstat(filepath.Join(a.Root(), filepath.FromSlash(file))); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// kustomizationFor is the kustomization of a folder, or the one that it would get.
func (a *planner) kustomizationFor(dir string) string {
	return cmp.Or(a.kustomization(dir), path.Join(dir, konfig.DefaultKustomizationFileName()))
}

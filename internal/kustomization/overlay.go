package kustomization

import (
	"bytes"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// overlay is a disk over which texts are laid: files that another command would write. The disk stays as it is.
type overlay struct {
	filesys.FileSystem
	texts map[string][]byte // by paths without links
}

// laidOver is the disk with these texts, by absolute paths, in place of what the files have, or as new files.
func laidOver(disk filesys.FileSystem, texts map[string][]byte) filesys.FileSystem {
	if len(texts) == 0 {
		return disk
	}
	o := overlay{disk, make(map[string][]byte, len(texts))}
	for path, text := range texts {
		o.texts[withoutLinks(path)] = text
	}
	return o
}

// withoutLinks is where a path leads to, also when its last elements are not there yet.
func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(withoutLinks(dir), filepath.Base(path))
}

// text is what is laid over a file.
func (o overlay) text(path string) (place string, text []byte, laid bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", nil, false
	}
	place = withoutLinks(path)
	text, laid = o.texts[place]
	return place, text, laid
}

// ReadFile reads what is laid over a file, or else the file.
func (o overlay) ReadFile(path string) ([]byte, error) {
	if _, text, laid := o.text(path); laid {
		return bytes.Clone(text), nil
	}
	return o.FileSystem.ReadFile(path)
}

// Exists reports whether there is such a file or folder.
func (o overlay) Exists(path string) bool {
	place, _, laid := o.text(path)
	return laid || o.holds(place) || o.FileSystem.Exists(path)
}

// IsDir reports whether there is such a folder, or one for what is laid over.
func (o overlay) IsDir(path string) bool {
	place, _, _ := o.text(path)
	return o.holds(place) || o.FileSystem.IsDir(path)
}

// holds reports whether something is laid into a folder, which need not be there.
func (o overlay) holds(place string) bool {
	for path := range o.texts {
		if place != "" && strings.HasPrefix(path, place+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// CleanedAbs resolves links: kustomize compares the folder with the one that the file must lie below.
func (o overlay) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	place, _, laid := o.text(path)
	switch {
	case laid:
		return filesys.ConfirmedDir(filepath.Dir(place)), filepath.Base(place), nil
	case o.holds(place):
		return filesys.ConfirmedDir(place), "", nil
	}
	return o.FileSystem.CleanedAbs(path)
}

package kustomization

import (
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// lessened is a disk on which some files are as if they were deleted. The disk stays as it is.
type lessened struct {
	filesys.FileSystem
	deleted map[string]bool // by paths without links
}

// without is the disk without these files, by absolute paths.
func without(disk filesys.FileSystem, files []string) filesys.FileSystem {
	if len(files) == 0 {
		return disk
	}
	l := lessened{disk, map[string]bool{}}
	for _, file := range files {
		l.deleted[withoutLinks(file)] = true
	}
	return l
}

func (l lessened) lacks(path string) bool {
	path, err := filepath.Abs(path)
	return err == nil && l.deleted[withoutLinks(path)]
}

// ReadFile reads a file that is left.
func (l lessened) ReadFile(path string) ([]byte, error) {
	if l.lacks(path) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
	}
	return l.FileSystem.ReadFile(path)
}

// Exists reports whether there is such a file or folder.
func (l lessened) Exists(path string) bool { return !l.lacks(path) && l.FileSystem.Exists(path) }

// CleanedAbs resolves links.
func (l lessened) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if l.lacks(path) {
		return "", "", &fs.PathError{Op: "stat", Path: path, Err: os.ErrNotExist}
	}
	return l.FileSystem.CleanedAbs(path)
}

package kustomization

import (
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// Files are those below a folder, which are read through a view. All others are read from the disk.
type Files struct {
	Root string // absolute
	View fileview.View
}

// Once are all files of the working folder's disk, each of which is read once: for several builds of one folder.
func Once() Files {
	here, _ := os.Getwd() // without it, names of folders are of no use
	root := filepath.VolumeName(here) + string(filepath.Separator)
	return Files{Root: root, View: fileview.Disk(root)}
}

// viewed is the disk, some of whose files are read through a view.
type viewed struct {
	filesys.FileSystem
	Files
}

// disk is the disk with the files; the zero value's is the plain one.
func (f Files) disk() filesys.FileSystem {
	if f.View == nil {
		return filesys.MakeFsOnDisk()
	}
	f.Root = withoutLinks(f.Root) // as kustomize names what is in it
	return viewed{filesys.MakeFsOnDisk(), f}
}

// ReadFile reads a file.
func (v viewed) ReadFile(path string) ([]byte, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(v.Root, abs); err == nil && fs.ValidPath(filepath.ToSlash(rel)) {
		return v.View.ReadFile(filepath.ToSlash(rel))
	}
	return v.FileSystem.ReadFile(path)
}

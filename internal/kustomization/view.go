package kustomization

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// viewRoot is where kustomize finds the files of a view: a place that no disk has.
const viewRoot = "/slipway view of the project"

// BuildView is [Build] of a folder of a project, through a view of its files. Each file is built as edit leaves it.
// Nothing is fetched, and files outside the project are not read.
func BuildView(ctx context.Context, files fileview.View, folder string, edit func(name string, text []byte) ([]byte, error)) ([]*unstructured.Unstructured, error) {
	objects, err := build(ctx, viewOnly{filesys.MakeFsInMemory(), files, edit}, path.Join(viewRoot, folder))
	if refused, ok := errors.AsType[*report.Error](err); ok {
		within := *refused
		within.Where = strings.TrimPrefix(filepath.ToSlash(refused.Where), viewRoot+"/")
		if refused.Err != nil {
			within.Err = inProject{refused.Err}
		}
		within.Next = strings.ReplaceAll(refused.Next, viewRoot+"/", "")
		return nil, &within
	}
	return objects, err
}

// inProject is an error whose text names files as the project does.
type inProject struct{ error }

func (e inProject) Error() string { return strings.ReplaceAll(e.error.Error(), viewRoot+"/", "") }

func (e inProject) Unwrap() error { return e.error }

// viewOnly is a disk with the files of a view, which kustomize reads and does not change.
type viewOnly struct {
	filesys.FileSystem // has none
	view               fileview.View
	edit               func(name string, text []byte) ([]byte, error)
}

// name is the name in the view of a path; the root has ".".
func (v viewOnly) name(place string) (name string, in bool) {
	name, in = strings.CutPrefix(path.Clean(filepath.ToSlash(place))+"/", viewRoot+"/")
	return path.Clean(name), in && fs.ValidPath(path.Clean(name))
}

func (v viewOnly) info(place string) fs.FileInfo {
	if name, in := v.name(place); in {
		if info, err := v.view.Stat(name); err == nil {
			return info
		}
	}
	return nil
}

// Exists reports whether there is such a file or folder.
func (v viewOnly) Exists(place string) bool { return v.info(place) != nil }

// IsDir reports whether there is such a folder.
func (v viewOnly) IsDir(place string) bool {
	info := v.info(place)
	return info != nil && info.IsDir()
}

// ReadFile reads a file.
func (v viewOnly) ReadFile(place string) ([]byte, error) {
	name, in := v.name(place)
	if !in {
		return nil, &fs.PathError{Op: "open", Path: place, Err: fs.ErrNotExist}
	}
	text, err := v.view.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return v.edit(name, text)
}

// CleanedAbs is the place of a file or folder. Links are the view's.
func (v viewOnly) CleanedAbs(place string) (filesys.ConfirmedDir, string, error) {
	place = path.Clean(filepath.ToSlash(place))
	switch info := v.info(place); {
	case info == nil:
		return "", "", &fs.PathError{Op: "lstat", Path: place, Err: fs.ErrNotExist}
	case info.IsDir():
		return filesys.ConfirmedDir(place), "", nil
	}
	return filesys.ConfirmedDir(path.Dir(place)), path.Base(place), nil
}

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

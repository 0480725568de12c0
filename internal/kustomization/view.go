package kustomization

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// viewRoot is where kustomize finds the files of a view: a place that no disk has.
const viewRoot = "/slipway view of the project"

// BuildView builds a folder of a project through a view of its files, as [Kustomization.Build] does. Each file is built
// as edit leaves it. Nothing is fetched, and files outside the project are not read.
func BuildView(ctx context.Context, files fileview.View, folder string, edit func(name string, text []byte) ([]byte, error)) ([]*unstructured.Unstructured, error) {
	inView := func(place string) (name string, in bool) {
		name, in = strings.CutPrefix(path.Clean(filepath.ToSlash(place))+"/", viewRoot+"/")
		return path.Clean(name), in && fs.ValidPath(path.Clean(name))
	}
	disk := edited{viewed{filesys.MakeFsInMemory(), viewRoot, files, inView}, func(place string, text []byte) ([]byte, error) {
		name, _ := inView(place)
		return edit(name, text)
	}}
	objects, err := build(ctx, note(disk, nil), path.Join(viewRoot, folder), nil)
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

// viewed is a disk on which the files below a folder are those of a view. Kustomize changes none.
type viewed struct {
	filesys.FileSystem // has all others
	root               string
	view               fileview.View
	name               func(place string) (name string, in bool) // of a path, in the view; "." is that of root
}

// info describes what the view has at a path; in reports whether the path is below the folder.
func (v viewed) info(place string) (info fs.FileInfo, name string, in bool) {
	if name, in = v.name(place); in {
		info, _ = v.view.Stat(name)
	}
	return info, name, in
}

// Exists reports whether there is such a file or folder.
func (v viewed) Exists(place string) bool {
	info, _, in := v.info(place)
	return info != nil || !in && v.FileSystem.Exists(place)
}

// IsDir reports whether there is such a folder.
func (v viewed) IsDir(place string) bool {
	info, _, in := v.info(place)
	return info != nil && info.IsDir() || !in && v.FileSystem.IsDir(place)
}

// ReadFile reads a file.
func (v viewed) ReadFile(place string) ([]byte, error) {
	if name, in := v.name(place); in {
		return v.view.ReadFile(name)
	}
	return v.FileSystem.ReadFile(place)
}

// CleanedAbs is the place of a file or folder, to which its name has led.
func (v viewed) CleanedAbs(place string) (filesys.ConfirmedDir, string, error) {
	info, name, in := v.info(place)
	cleaned := filepath.Join(v.root, filepath.FromSlash(name))
	switch {
	case !in:
		return v.FileSystem.CleanedAbs(place)
	case info == nil:
		return "", "", &fs.PathError{Op: "lstat", Path: filepath.Join(v.root, filepath.FromSlash(v.missing(name))), Err: syscall.ENOENT}
	case info.IsDir():
		return filesys.ConfirmedDir(cleaned), "", nil
	}
	return filesys.ConfirmedDir(filepath.Dir(cleaned)), filepath.Base(cleaned), nil
}

// missing is the first part of a name that leads to nothing.
func (v viewed) missing(name string) string {
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if _, err := v.view.Stat(above); err == nil {
			break
		}
		name = above
	}
	return name
}

// Files are those below a folder, which are read through a view. All others are read from the disk.
type Files struct {
	Root  string // absolute
	View  fileview.View
	Roles []string // those with roles that are generated from markers, absolute
}

// disk is the disk with the files, of which some are others: by their paths, those that are nil are gone. The zero
// value's is the plain one.
func (f Files) disk(changed map[string][]byte) filesys.FileSystem {
	if f.View == nil {
		if len(changed) == 0 {
			return filesys.MakeFsOnDisk()
		}
		here, _ := os.Getwd() // without it, names of folders are of no use
		f.Root = filepath.VolumeName(here) + string(filepath.Separator)
		f.View = fileview.Disk(f.Root)
	}
	root := withoutLinks(f.Root) // as kustomize names what is in it
	inView := func(place string) (string, bool) {
		place, err := filepath.Abs(place)
		if err != nil {
			return "", false
		}
		name, err := filepath.Rel(root, withoutLinks(place))
		name = filepath.ToSlash(name)
		return name, err == nil && fs.ValidPath(name)
	}
	others := map[string][]byte{}
	for place, text := range changed {
		if name, in := inView(place); in {
			others[name] = bytes.Clone(text)
		}
	}
	return viewed{filesys.MakeFsOnDisk(), root, fileview.Over(f.View, others), inView}
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

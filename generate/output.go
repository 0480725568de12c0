package generate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/internal/report"
)

// once leaves one file for each path. Two are a mistake unless the last shall win.
func (r *run) once(files []File) ([]File, error) {
	at := make(map[string]int)
	kept := files[:0:0]
	for _, f := range files {
		before, seen := at[f.Path]
		switch {
		case !seen:
			at[f.Path] = len(kept)
			kept = append(kept, f)
		case !r.lenient:
			return nil, &report.Error{What: "two generators, or two kinds, want to write the same file", Where: f.Path, Hint: "different output folders"}
		default:
			kept[before] = f
			r.inputs.Opaque() // this warning is not remembered
			r.loader.Report(report.Finding{Position: report.Position{File: f.Path}, Suggestion: "different output folders",
				Message: "several generators, packages or kinds write this file, and the last one wins"})
		}
	}
	return kept, nil
}

// compare finds out what would happen to each file.
func compare(files []File) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		group.Go(func() error { return files[i].compare() })
	}
	return group.Wait()
}

func (f *File) compare() error {
	existing, err := os.ReadFile(f.Path)
	switch {
	case f.remove:
		f.Action = report.Deleted
	case errors.Is(err, fs.ErrNotExist):
		f.Action = report.Created
	case err != nil:
		return &report.Error{What: "file cannot be read", Where: f.Path, Err: err}
	case bytes.Equal(existing, f.Content):
		f.Action = report.Unchanged
	default:
		f.Action = report.Updated
	}
	return nil
}

// write writes all files that differ, or none: whatever can fail for want of
// space or permission happens before the first file is replaced.
func write(ctx context.Context, files []File) error {
	var ready []staged
	defer func() {
		for _, s := range ready {
			_ = os.Remove(s.temp) // gone already where it was renamed
		}
	}()
	for _, f := range files {
		if f.Action == report.Unchanged || f.remove {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := stage(f.Path, f.Content)
		if err != nil {
			return cannotWrite(f.Path, err)
		}
		ready = append(ready, s)
	}
	for _, s := range ready {
		if err := os.Rename(s.temp, s.path); err != nil {
			return cannotWrite(s.path, err)
		}
	}
	return remove(files)
}

// remove removes the files that are to go, and the folders that this leaves empty.
func remove(files []File) error {
	for _, f := range files {
		if !f.remove {
			continue
		}
		if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cannotWrite(f.Path, err)
		}
		for dir := filepath.Dir(f.Path); os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return nil
}

func cannotWrite(path string, err error) error {
	e := &report.Error{What: "file cannot be written", Where: path, Err: err}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = "a folder that you may write to"
	}
	return e
}

// staged is a file's new content, complete beside the file that it will replace.
type staged struct{ temp, path string }

// stage writes a file's new content beside it. Links stay links, and an existing
// file keeps its permissions.
func stage(path string, content []byte) (staged, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return staged{}, err
	}
	temp, err := os.CreateTemp(dir, ".slipway-*")
	if err != nil {
		return staged{}, err
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err != nil {
		return staged{}, errors.Join(err, os.Remove(temp.Name()))
	}
	return staged{temp: temp.Name(), path: path}, nil
}

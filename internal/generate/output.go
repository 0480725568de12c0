package generate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// once leaves one file for each path. Two are a mistake unless they are the same, as of a Makefile that calls
// controller-gen twice with the same generators, or the last shall win.
func (r *run) once(files []File) ([]File, error) {
	at := make(map[string]int)
	kept := files[:0:0]
	for _, f := range files {
		before, seen := at[f.Path]
		switch {
		case !seen:
			at[f.Path] = len(kept)
			kept = append(kept, f)
		case !r.lenient && sameFile(kept[before], f):
		case !r.lenient:
			return nil, &report.Error{Class: report.BadProject, What: "two generators or two kinds write the same file", Where: f.Path, Hint: "use different output folders"}
		default:
			kept[before] = f
			r.inputs.Opaque() // this warning is not remembered
			r.loader.Report(report.Finding{Rule: report.RuleSharedFile, Position: report.Position{File: f.Path}, Suggestion: "use different output folders",
				Message: "several generators, packages or kinds write this file, and the last one wins"})
		}
	}
	return kept, nil
}

// sameFile reports whether two results for a path do the same to it.
func sameFile(a, b File) bool {
	return a.remove == b.remove && bytes.Equal(a.Content, b.Content)
}

// compare finds out what would happen to each file.
func compare(files []File, view fileview.View) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		group.Go(func() error { return files[i].compare(view) })
	}
	return group.Wait()
}

func (f *File) compare(view fileview.View) error {
	same, err := f.same(view)
	switch {
	case f.remove:
		f.Action = report.Deleted
	case errors.Is(err, fs.ErrNotExist):
		f.Action = report.Created
	case err != nil:
		return &report.Error{What: "file cannot be read", Where: f.Path, Err: err}
	case same:
		f.Action = report.Unchanged
	default:
		f.Action = report.Updated
	}
	return nil
}

// errNoFile is why a pipe or a device is not read: it may never end.
var errNoFile = errors.New("it is a pipe, a socket or a device")

// same reports whether the file has its content already. What is of another size is not read.
func (f *File) same(view fileview.View) (bool, error) {
	info, err := os.Stat(f.Path)
	switch {
	case err != nil:
		return false, err
	case !info.Mode().IsRegular() && !info.IsDir(): // reading a folder says what it is
		return false, errNoFile
	case info.Mode().IsRegular() && info.Size() != int64(len(f.Content)):
		return false, nil
	}
	if text, is := fileview.Kept(view, f.Path, info); is {
		return bytes.Equal(text, f.Content), nil
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if info, err = file.Stat(); err != nil {
		return false, err
	}
	same, err := holds(file, f.Content)
	if same {
		fileview.Keep(view, f.Path, info, f.Content)
	}
	return same, err
}

// holds reports whether a reader has exactly a content. It reads piece by piece: most of what is compared is large and
// the same, and memory that is used once costs more than comparing does.
func holds(r io.Reader, content []byte) (bool, error) {
	piece := make([]byte, 16<<10)
	for {
		n, err := r.Read(piece)
		rest, same := bytes.CutPrefix(content, piece[:n])
		switch content = rest; {
		case !same:
			return false, nil
		case errors.Is(err, io.EOF):
			return len(content) == 0, nil
		case err != nil:
			return false, err
		}
	}
}

// write writes all files that differ, or none: whatever can fail for want of
// space or permission happens before the first file is replaced.
func write(ctx context.Context, o Options, files []File) error {
	to, err := openPlaces(o)
	if err != nil {
		return err
	}
	defer to.close()
	var ready []*safefs.Staged
	defer func() {
		for _, s := range ready {
			s.Discard()
		}
	}()
	var paths []string
	for _, f := range files {
		if f.Action == report.Unchanged || f.remove {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := to.stage(f.Path, f.Content)
		if err != nil {
			return to.cannotWrite(f.Path, err)
		}
		ready, paths = append(ready, s), append(paths, f.Path)
	}
	for i, s := range ready {
		if err := s.Place(); err != nil {
			return to.cannotWrite(paths[i], err)
		}
	}
	return to.remove(files)
}

// noteReplaced has replacing learn what is where files will be written or removed.
func noteReplaced(files []File, replacing func(string, []byte)) error {
	if replacing == nil {
		return nil
	}
	for _, f := range files {
		if f.Action == report.Unchanged {
			continue
		}
		before, err := safefs.ReadFile(f.Path)
		switch {
		case err == nil && before == nil:
			before = []byte{}
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return &report.Error{What: "file cannot be read", Where: f.Path, Err: err}
		}
		replacing(f.Path, before)
	}
	return nil
}

// remove removes the files that are to go, and the folders that this leaves empty.
func (p *places) remove(files []File) error {
	for _, f := range files {
		if !f.remove {
			continue
		}
		if err := p.removeFile(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return p.cannotWrite(f.Path, err)
		}
		for dir := filepath.Dir(f.Path); p.removeFile(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return nil
}

func (p *places) cannotWrite(path string, err error) error {
	if out, ok := errors.AsType[*safefs.OutsideError](err); ok {
		return p.outside(path, out)
	}
	e := &report.Error{What: "file cannot be written", Where: path, Err: err}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = "use a folder that you may write to"
	}
	return e
}

package generate

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// places are the folders that a run writes below.
type places struct {
	within   safefs.FolderSet          // nil: anywhere
	besides  bool                      // see Options
	anywhere map[string]*safefs.Folder // the folders of files that are not below within
}

func openPlaces(o Options) (*places, error) {
	set, err := safefs.OpenFolders(o.Within...)
	if err != nil {
		return nil, &report.Error{What: "the folder cannot be opened", Err: err, Hint: "name a folder for generated files"}
	}
	return &places{within: set, besides: o.Besides, anywhere: map[string]*safefs.Folder{}}, nil
}

// free reports whether a file may be written wherever its links lead.
func (p *places) free(path string) bool { return p.within == nil || p.besides && !p.within.Has(path) }

func (p *places) close() {
	p.within.Close()
	for _, f := range p.anywhere {
		_ = f.Close() // nothing was written through the folder's own handle
	}
}

// stage writes a file's new content beside it. Links stay links, and an existing file keeps its permissions.
func (p *places) stage(path string, content []byte) (*safefs.Staged, error) {
	folder, name, err := p.find(path)
	if err != nil {
		return nil, err
	}
	return folder.Stage(name, content)
}

// find returns the folder through which a file is written, and its name there.
func (p *places) find(path string) (*safefs.Folder, string, error) {
	if !p.free(path) {
		return p.within.Find(path)
	}
	dir, name := filepath.Split(follow(path))
	if p.anywhere[dir] == nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, "", err
		}
		folder, err := safefs.OpenFolder(dir)
		if err != nil {
			return nil, "", err
		}
		p.anywhere[dir] = folder
	}
	return p.anywhere[dir], name, nil
}

// follow is where a path leads to, also when nothing is there yet.
func follow(path string) string {
	for range 40 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		target, err := os.Readlink(path)
		if err != nil {
			break // no link, or nothing at all
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// removeFile removes a file, or a folder that is empty.
func (p *places) removeFile(path string) error {
	if p.free(path) {
		return os.Remove(path)
	}
	folder, name, err := p.within.Find(filepath.Dir(path))
	if err != nil {
		return err
	}
	return folder.Remove(filepath.ToSlash(filepath.Join(name, filepath.Base(path))))
}

// checkPlaces refuses files that would have to be written elsewhere, also when nothing is written: what is there is
// not shown as a difference either.
func checkPlaces(o Options, files []File) error {
	p, err := openPlaces(o)
	if err != nil {
		return err
	}
	defer p.close()
	for _, f := range files {
		if f.Action == report.Unchanged || p.free(f.Path) {
			continue
		}
		if _, _, err := p.find(f.Path); err != nil {
			return p.cannotWrite(f.Path, err)
		}
	}
	return nil
}

// outside is the refusal of a file outside of the project.
func (p *places) outside(path string, out *safefs.OutsideError) error {
	e := &report.Error{Class: report.BadProject, What: "a generated file is outside the project", Where: path, Err: out, Hint: "nothing was written; "}
	switch dir := filepath.Dir(out.Leads); {
	case out.Git:
		e.What = "a generated file is among git's own files"
		e.Hint += "remove " + cmp.Or(out.Link, "that output rule")
	case out.Link != "" && p.besides:
		e.Hint += "replace the link by a folder, or name the folder that it leads to in the output rule"
		e.Next = "ls -l " + shellword.Quote(filepath.Join(out.Folder, filepath.FromSlash(out.Link)))
	case out.Link != "":
		e.Hint += "remove the link, or allow the folder that it leads to with --outside"
		e.Next = "slipway generate --outside " + shellword.Quote(dir)
	default:
		e.Hint += "an output rule of the Makefile names it: change the rule, or allow the folder with --outside"
		e.Next = "slipway generate --outside " + shellword.Quote(dir)
	}
	return e
}

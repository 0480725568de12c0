package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// errNoProgram is why a path that the user named does not do.
var errNoProgram = errors.New("not a program")

// find looks for a small program, which tells its protocol whenever it answers, and never builds it.
func (f *Finder) find(p *product) (path string, ok bool, err error) {
	if path := f.Getenv(p.variable); path != "" {
		if path, err = filepath.Abs(path); err != nil {
			return path, false, err
		}
		err = usable(path)
		if err != nil {
			err = &report.Error{What: p.variable + " does not name a program", Where: path, Err: err,
				Hint: "the " + p.last() + " program of this slipway's version; unset " + p.variable + " to let slipway find or build it"}
		}
		return path, err == nil, err
	}
	if path, ok := f.besideSlipway(p); ok {
		return path, true, nil
	}
	s, _, err := f.slotOf(p)
	if err != nil || !f.filled(s) {
		return "", false, err
	}
	s.touch()
	return s.program(), true, nil
}

// usable says why a file that the user named is no program that can be run.
func usable(path string) error {
	if !isFile(path) {
		return errNoProgram
	}
	return sound(path)
}

// ensure finds a small program or builds it.
func (f *Finder) ensure(ctx context.Context, p *product) (path string, err error) {
	path, ok, err := f.find(p)
	if ok || err != nil {
		return path, err
	}
	return f.obtain(ctx, p)
}

// obtain downloads a product or builds it, and returns the path of its last program.
func (f *Finder) obtain(ctx context.Context, p *product) (path string, err error) {
	s, err := f.built(ctx, p)
	if err != nil {
		return "", err
	}
	return s.program(), nil
}

// slotOf is the place for what is built from the sources at hand.
func (f *Finder) slotOf(p *product) (slot, source, error) {
	src, err := f.source(p)
	if err != nil {
		return slot{}, source{}, err
	}
	s, err := f.slot(p, src)
	return s, src, err
}

// place is where a small program is, or where it will be once it is built; empty if that cannot be told.
func (f *Finder) place(p *product) string {
	path, ok, err := f.find(p)
	if ok || err != nil {
		return path
	}
	s, _, err := f.slotOf(p)
	if err != nil {
		return ""
	}
	return s.program()
}

// command is what builds a program by hand.
func (f *Finder) command(p *product) string {
	src, err := f.source(p)
	if err != nil || src.dir == "" {
		return "go install " + p.lastPackage() + "@" + src.orLatest()
	}
	return "(cd " + src.dir + " && go build -o " + filepath.Join(os.TempDir(), p.last()) + " ./cmd/" + p.last() + ")"
}

func (src source) orLatest() string {
	if src.version == "" {
		return "latest"
	}
	return src.version
}

// id names the state of a program.
func (f *Finder) id(p *product) string {
	path := f.Getenv(p.variable)
	if path == "" {
		path, _ = f.besideSlipway(p)
	}
	if id, ok := stamp(path); ok {
		return id
	}
	s, _, err := f.slotOf(p)
	if err != nil {
		return ""
	}
	return filepath.Base(s.dir)
}

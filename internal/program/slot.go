package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// slot is the place in the cache for the programs built from one state of the sources.
type slot struct {
	*product
	dir string
}

// ProgramsDir is the folder of all slots, in the cache.
const ProgramsDir = "programs"

// slot returns the place for what is built from src.
func (f *Finder) slot(p *product, src source) (slot, error) {
	key, err := src.key(p)
	if err != nil {
		return slot{}, fmt.Errorf("read %s's sources: %w", p.what, err)
	}
	root, err := userdirs.Cache(f.Getenv)
	if err != nil {
		return slot{}, err
	}
	return slot{p, filepath.Join(root, ProgramsDir, key)}, nil
}

func (s slot) program() string { return s.file(s.last()) }

func (s slot) file(program string) string { return filepath.Join(s.dir, fileName(program)) }

// damaged says why the slot's programs cannot be used although they were built; filled is false if they were not.
func (s slot) damaged() (filled bool, err error) {
	n, ok := readNote(s.dir)
	if !ok || n.Files[s.last()] == (state{}) {
		return false, nil
	}
	for _, program := range s.programs {
		if err := n.check(s.dir, program); err != nil {
			return true, fmt.Errorf("%s: %w", s.file(program), err)
		}
	}
	return true, nil
}

// filled says whether the slot's programs can be used. Of damaged ones it warns, once, and has them count as not built.
func (f *Finder) filled(s slot) bool {
	filled, err := s.damaged()
	if err == nil {
		return filled
	}
	if _, known := f.told.LoadOrStore(s.program(), true); !known {
		f.Handler.Handle(report.Warning{Text: fmt.Sprintf("%v; slipway builds it again before it is used", err)})
	}
	return false
}

// complete reports whether the slot's programs can be used, without a warning.
func (s slot) complete() bool {
	filled, err := s.damaged()
	return filled && err == nil
}

// prepare makes the slot's folder.
func (s slot) prepare() error { return unusable(os.MkdirAll(s.dir, 0o755)) }

// unusable explains a failure to write into the cache.
func unusable(err error) error {
	if err == nil {
		return nil
	}
	e := &report.Error{What: "cannot use the cache folder", Err: err, Hint: "set SLIPWAY_CACHE to a folder that you may write to"}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		e.Where, e.Err = p.Path, p.Err
	}
	return e
}

// workshop makes a folder to build in, in place of what builds that were killed
// left. The caller holds the slot.
func (s slot) workshop() (dir string, err error) {
	dir = s.workshopDir()
	if err := os.RemoveAll(dir); err != nil {
		return "", unusable(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", unusable(err)
	}
	return dir, unusable(userdirs.Mark(dir))
}

func (s slot) workshopDir() string { return filepath.Join(s.dir, "build") }

// lockPoll is how often a build that waits for another one looks again.
const lockPoll = 100 * time.Millisecond

// hold keeps others from filling the slot until release is called. It waits for another one no longer than until the
// slot is filled: that one may go on with another program.
func (s slot) hold(ctx context.Context, h report.Handler) (release func(), err error) {
	return hold(ctx, h, s.lock(), "builds "+s.what, s.complete)
}

// lock is the file by which commands that fill the slot wait for each other.
func (s slot) lock() string { return s.dir + ".lock" }

// busy reports whether another command is filling the slot.
func (s slot) busy() bool {
	l := flock.New(s.lock(), flock.SetPermissions(0o600))
	free, err := l.TryLock()
	if free {
		_ = l.Unlock()
	}
	return !free || err != nil
}

// hold takes the lock at path until release is called. It waits for another slipway that has it and does something,
// with a note, but not when what it is to do is done.
func hold(ctx context.Context, h report.Handler, path, does string, done func() bool) (release func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	release = func() { _ = l.Close() }
	for waits := false; ; waits = true {
		switch ok, err := l.TryLock(); {
		case err != nil:
			return nil, unusable(err)
		case ok:
			// For the message of those who wait; whether it can be read is no matter.
			_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+" "+does), 0o600)
			return release, nil
		case done():
			return release, nil
		case !waits:
			h.Handle(report.Note{Text: "another slipway" + holder(path, does) + "; waiting for it"})
		}
		select {
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// holder is what the process that holds the lock at path does, with its id, if it left that.
func holder(path, does string) string {
	text, err := os.ReadFile(path)
	pid, theirs, named := strings.Cut(strings.TrimSpace(string(text)), " ")
	if named {
		does = theirs
	}
	if err != nil || pid == "" {
		return " " + does
	}
	return " (process " + pid + ") " + does
}

package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// checkName is the file name of the checker of CRDs, without its extension.
const checkName = "slipway-check"

// errNoChecker is why a path that the user named does not do.
var errNoChecker = errors.New("not a program")

// FindChecker looks for the slipway-check program and never builds it: the path in SLIPWAY_CHECK, beside slipway's own
// executable, in the cache. Ok is false when it is in none of these places.
func (f *Finder) FindChecker() (path string, ok bool, err error) {
	if path := f.Getenv("SLIPWAY_CHECK"); path != "" {
		if path, err = filepath.Abs(path); err == nil && !isFile(path) {
			err = &report.Error{What: "SLIPWAY_CHECK names no program", Where: path, Err: errNoChecker,
				Hint: "the slipway-check program of this slipway's version; unset SLIPWAY_CHECK to let slipway find or build it"}
		}
		return path, err == nil, err
	}
	if path, ok := f.besideSlipway(checkName); ok {
		return path, true, nil
	}
	s, _, err := f.checkSlot()
	if err != nil || !s.filled() {
		return "", false, err
	}
	s.touch()
	return s.program(), true, nil
}

// EnsureChecker finds the slipway-check program or builds it, which takes a minute or two when nothing of it is compiled.
func (f *Finder) EnsureChecker(ctx context.Context) (path string, err error) {
	path, ok, err := f.FindChecker()
	if ok || err != nil {
		return path, err
	}
	s, src, err := f.checkSlot()
	if err != nil {
		return "", err
	}
	return s.program(), f.fill(ctx, s, src)
}

// checkSlot is the place for the checker built from the sources at hand.
func (f *Finder) checkSlot() (slot, source, error) {
	src, err := f.source()
	if err != nil {
		return slot{}, source{}, err
	}
	s, err := f.slot(checkProduct(), src)
	return s, src, err
}

// besideSlipway looks for a program beside slipway's own executable, where release archives have it.
func (f *Finder) besideSlipway(program string) (path string, ok bool) {
	own, err := f.executable()
	if err != nil {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	path = filepath.Join(filepath.Dir(own), fileName(program))
	return path, isFile(path)
}

// BuildChecker is the command that builds the checker by hand.
func (f *Finder) BuildChecker() string {
	src, err := f.source()
	if err != nil || src.dir == "" {
		return "go install " + clusterModule + "/cmd/" + checkName + "@" + src.orLatest()
	}
	return "(cd " + src.dir + " && go build -o " + filepath.Join(os.TempDir(), checkName) + " ./cmd/" + checkName + ")"
}

func (src source) orLatest() string {
	if src.version == "" {
		return "latest"
	}
	return src.version
}

// CheckerID names the state of the checker: who remembers its answers needs new ones when the name changes. It does not
// need the program to be there.
func (f *Finder) CheckerID() string {
	path := f.Getenv("SLIPWAY_CHECK")
	if path == "" {
		path, _ = f.besideSlipway(checkName)
	}
	if info, err := os.Stat(path); err == nil {
		return fmt.Sprint(path, info.Size(), info.ModTime().UnixNano())
	}
	s, _, err := f.checkSlot()
	if err != nil {
		return ""
	}
	return filepath.Base(s.dir)
}

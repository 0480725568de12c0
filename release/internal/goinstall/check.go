package goinstall

import (
	"bufio"
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/report"
)

// ErrWrong is that a program is not what a release has.
var ErrWrong = errors.New("not a program of this release")

// check compares what the go command noted in a program with what it is to be.
func (c Compiler) check(path string, u program.ReleaseUnit, goos, goarch string) error {
	info, err := buildinfo.ReadFile(path)
	if err == nil {
		err = errors.Join(c.isReleased(info, u), isFor(info, goos, goarch), c.sums(info, u))
	}
	if err != nil {
		return &report.Error{What: "a program was compiled that is not of this release", Where: path, Err: err}
	}
	return nil
}

// isReleased reports a program of another version.
func (c Compiler) isReleased(info *debug.BuildInfo, u program.ReleaseUnit) error {
	if info.Main.Path != u.Module || info.Main.Version != c.Version || !slices.Contains(u.Packages, info.Path) {
		return fmt.Errorf("%w: it is %s of %s@%s", ErrWrong, info.Path, info.Main.Path, info.Main.Version)
	}
	return nil
}

// isFor reports a program with other settings.
func isFor(info *debug.BuildInfo, goos, goarch string) error {
	want := map[string]string{"GOOS": goos, "GOARCH": goarch, "CGO_ENABLED": "0", "-trimpath": "true"}
	for _, s := range info.Settings {
		if want[s.Key] == s.Value {
			delete(want, s.Key)
		}
	}
	if len(want) > 0 {
		return fmt.Errorf("%w: it is without %v", ErrWrong, want)
	}
	return nil
}

// sums reports a module in the program whose checksum is not the one in the commit's go.sum.
func (c Compiler) sums(info *debug.BuildInfo, u program.ReleaseUnit) error {
	known := map[string]bool{}
	text, _ := c.Commit.File(strings.TrimPrefix(folder(u.Module)+"/go.sum", "/"))
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		known[lines.Text()] = true
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil || !known[dep.Path+" "+dep.Version+" "+dep.Sum] {
			return fmt.Errorf("%w: go.sum does not have %s %s %s", ErrWrong, dep.Path, dep.Version, dep.Sum)
		}
	}
	return nil
}

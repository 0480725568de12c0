package codegen

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/report"
)

// name is what the program is called in messages.
const name = "slipway-codegen"

// Finder finds the program, see package program, and has it work.
type Finder struct{ programs *program.Finder }

// NewFinder returns a finder for the running process. Handler learns of a build,
// which takes a while.
func NewFinder(getenv func(string) string, handler report.Handler) *Finder {
	return &Finder{program.NewFinder(getenv, handler)}
}

// Own is the minor version of the generators that slipway's own module requires.
const Own = "v0.37"

// oldest is the first minor version of the generators that the program can be built with.
const oldest = "v0.30"

// Program returns the path of the program with the generators of a version, which is built if need be. "" is slipway's
// own.
func (f *Finder) Program(ctx context.Context, version string) (string, error) {
	switch minor := semver.MajorMinor(version); {
	case minor == "" || minor == Own:
		return f.programs.EnsureCodegen(ctx)
	case semver.Compare(minor, oldest) < 0:
		return "", &report.Error{Class: report.BadProject, What: "clients cannot be written for k8s.io/client-go " + version, Where: "go.mod", Err: errTooOld,
			Hint: oldest + " or later", Next: "go get k8s.io/client-go@latest"}
	}
	return f.programs.EnsureCodegenOf(ctx, version)
}

var errTooOld = errors.New("slipway does not support the generators of that version")

// shownLines is how much of what a failed program said is shown.
const shownLines = 12

func firstLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > shownLines {
		lines = append(lines[:shownLines:shownLines], "…")
	}
	return strings.Join(lines, "\n")
}

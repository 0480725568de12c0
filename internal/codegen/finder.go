package codegen

import (
	"context"
	"strings"

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

// Program returns the path of the program, which is built if need be.
func (f *Finder) Program(ctx context.Context) (string, error) { return f.programs.EnsureCodegen(ctx) }

// shownLines is how much of what a failed program said is shown.
const shownLines = 12

func firstLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > shownLines {
		lines = append(lines[:shownLines:shownLines], "…")
	}
	return strings.Join(lines, "\n")
}

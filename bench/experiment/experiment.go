// Package experiment runs what a benchmark consists of: experiments that measure figures, all of them or those that are
// named, one table of what they measured, and a failure for each bar that was missed.
package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

// MinRuns is how many runs a median is taken of at least.
const MinRuns = 7

// These errors make a benchmark fail, besides those of its experiments.
var (
	ErrBarMissed = errors.New("a bar was missed")
	ErrUnknown   = errors.New("no such experiment")
)

// Experiment measures some figures with what is set up as a B.
type Experiment[B any] struct {
	Name string
	Run  func(context.Context, B) ([]sidebyside.Figure, error)
}

// List is all experiments of a benchmark, in the order in which they run.
type List[B any] []Experiment[B]

// Names are the names of all, separated by commas.
func (l List[B]) Names() string {
	var names []string
	for _, e := range l {
		names = append(names, e.Name)
	}
	return strings.Join(names, ",")
}

// Only are those that are named, separated by commas, in that order; all if none is.
func (l List[B]) Only(names string) (List[B], error) {
	if names == "" {
		return l, nil
	}
	var chosen List[B]
	for name := range strings.SplitSeq(names, ",") {
		at := slices.IndexFunc(l, func(e Experiment[B]) bool { return e.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("%w: %q, only %s", ErrUnknown, name, l.Names())
		}
		chosen = append(chosen, l[at])
	}
	return chosen, nil
}

// Run runs one after the other and writes the table. It goes on after one that failed: that says nothing of the others.
func (l List[B]) Run(ctx context.Context, out io.Writer, b B) error {
	var figures []sidebyside.Figure
	var failures []error
	for _, e := range l {
		f, err := e.Run(ctx, b)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", e.Name, err))
		}
		figures = append(figures, f...)
		if ctx.Err() != nil {
			break
		}
	}
	failures = append(failures, sidebyside.Figures(out, figures...))
	for _, f := range figures {
		if !f.Passed() {
			failures = append(failures, fmt.Errorf("%w: %s, %s", ErrBarMissed, f.Case, f.Unit))
		}
	}
	return errors.Join(failures...)
}

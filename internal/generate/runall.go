package generate

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
)

// RunAll does several runs, such as a Makefile has, and joins the results. No run writes before all are known to
// succeed: it stops at the first one that fails or has a fatal finding, and then nothing was written. A run of
// schemapatch is an exception, for it reads files that runs before it write.
func RunAll(ctx context.Context, all ...Options) (Result, error) {
	var s sequence
	for _, options := range all {
		if failed, err := s.prepare(ctx, options); err != nil || failed {
			return s.result(), err
		}
	}
	err := s.write(ctx)
	return s.result(), err
}

// sequence is what is known of several runs.
type sequence struct {
	runs    []prepared
	written int // as many of them are
}

// prepare has the next run make its files.
func (s *sequence) prepare(ctx context.Context, options Options) (failed bool, err error) {
	if slices.ContainsFunc(options.Uses, func(u Use) bool { return u.Name == "schemapatch" }) {
		if err := s.write(ctx); err != nil {
			return false, err
		}
	}
	var making []string
	for _, before := range s.runs[s.written:] {
		making = append(making, before.makes...)
	}
	p, err := prepare(ctx, options, making...)
	s.runs = append(s.runs, p)
	return p.result.Failed(), err
}

// write writes what is not written yet, in order. A run whose files an earlier one has just written is done again: what
// it knows of them does not hold any more.
func (s *sequence) write(ctx context.Context) error {
	begin := s.written
	for ; s.written < len(s.runs); s.written++ {
		p := &s.runs[s.written]
		if overwritten(p.result.Files, s.runs[begin:s.written]) && !p.options.DryRun {
			var err error
			if *p, err = prepare(ctx, p.options); err != nil {
				return err
			}
		}
		if err := p.write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// overwritten reports whether one of the runs has changed one of the files.
func overwritten(files []File, by []prepared) bool {
	changed := map[string]bool{}
	for _, p := range by {
		for _, f := range p.result.Files {
			changed[f.Path] = changed[f.Path] || f.Action != report.Unchanged
		}
	}
	return slices.ContainsFunc(files, func(f File) bool { return changed[f.Path] })
}

func (s *sequence) result() Result {
	results := make([]Result, len(s.runs))
	for i, p := range s.runs {
		results[i] = p.result
	}
	return join(results...)
}

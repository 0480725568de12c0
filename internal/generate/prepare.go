package generate

import (
	"context"

	"github.com/slipway-dev/slipway/internal/report"
)

// prepared is a run that has made its files and written none.
type prepared struct {
	options Options
	run     *run // nil: nothing has changed since an earlier one
	result  Result
	makes   []string // import paths at and below which it makes packages
}

// prepare runs the generators. Unless it fails, all files can be written where they belong. Runs before this one make
// packages at and below the import paths in making, and have not written them yet.
func prepare(ctx context.Context, options Options, making ...string) (prepared, error) {
	past := recall(options)
	if last, fresh := past.result(); fresh {
		if options.Events != nil {
			options.Events.Handle(report.Note{Text: "no input and no output has changed since the last run"})
		}
		return prepared{options: options, result: last}, nil
	}
	r, err := newRun(ctx, options, past)
	if err != nil {
		return prepared{}, err
	}
	r.making = making
	done := r.stage("load")
	roots, err := r.loader.Roots(ctx, r.paths...)
	done()
	if err != nil {
		return prepared{}, err
	}
	made, err := r.generate(ctx, roots)
	if err != nil {
		return prepared{}, err
	}
	if err := r.loader.Missing(); err != nil {
		return prepared{}, err
	}
	p := prepared{options: options, run: r, makes: r.makes(roots), result: Result{
		Files:    made.files,
		Left:     made.left,
		Printed:  made.printed,
		Findings: relative(r.loader.Findings(), r.dir),
		Parsed:   r.loader.Parsed(),
		Checked:  r.loader.Checked(),
		memory:   past.memory,
	}}
	return p, p.check()
}

// check finds out what would happen to each file, and whether it may.
func (p prepared) check() error {
	if err := compare(p.result.Files, p.options.Files); err != nil || p.result.Failed() {
		return err
	}
	return checkPlaces(p.options, p.result.Files)
}

// write writes the files that differ, unless none are to be.
func (p prepared) write(ctx context.Context) error {
	if p.run == nil || p.options.DryRun {
		return nil
	}
	defer p.run.stage("write")()
	if err := noteReplaced(p.result.Files, p.options.Replacing); err != nil {
		return err
	}
	if err := write(ctx, p.options, p.result.Files); err != nil {
		return err
	}
	p.run.save(p.result)
	return nil
}

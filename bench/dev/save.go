package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const (
	savedLoop  quantity = "slipway dev: save until the new manager reconciles"
	savedMake  quantity = "make run: the same, with Ctrl-C"
	savedBuild quantity = "go build of the change"
)

// save measures a save of the reconciler until the new one has run: with slipway dev, and with Ctrl-C and `make run` on
// the same cluster. `go build` is what neither can do without.
func save(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	s, err := b.rounds("save", func(s series) error {
		if err := b.saveLoop(ctx, s); err != nil {
			return err
		}
		took, err := b.buildChange(ctx)
		if err != nil {
			return err
		}
		s.add(savedBuild, took)
		return b.saveMake(ctx, s)
	})
	if err != nil {
		return nil, err
	}
	const bar = 800
	figures := []sidebyside.Figure{
		s.beside("save until the new manager reconciles, beside go build of the change", savedLoop, savedBuild),
		s.more("what that adds to go build", savedLoop, savedBuild, sidebyside.AtMost(bar)),
		s.beside("save until the new manager reconciles, beside Ctrl-C and make run", savedLoop, savedMake),
	}
	return append(figures, s.stages()...), nil
}

// saveLoop measures slipway dev.
func (b *bench) saveLoop(ctx context.Context, s series) error {
	return b.withDev(ctx, b.loop, func(d *session) error {
		mark, at, err := b.saved(b.loop)
		if err != nil {
			return err
		}
		e, err := d.line(ctx, mark)
		if err != nil {
			return err
		}
		s.add(savedLoop, e.at.Sub(at))
		s.addStages(d.seen, at, e.at)
		return nil
	})
}

// withDev does something while slipway dev runs and has nothing to do.
func (b *bench) withDev(ctx context.Context, p project, do func(*session) error) error {
	d, err := b.dev(ctx, p, "--samples")
	if err != nil {
		return err
	}
	return d.idle(ctx, do)
}

// idle does something once the manager runs and nothing is left to do, and ends the program.
func (s *session) idle(ctx context.Context, do func(*session) error) error {
	_, err := s.line(ctx, "Starting workers")
	if err == nil {
		err = s.settle(ctx)
	}
	if err == nil {
		err = do(s)
	}
	return errors.Join(err, s.end())
}

// saveMake measures `make run`: the developer saves, presses Ctrl-C and calls it again, without any hesitation.
func (b *bench) saveMake(ctx context.Context, s series) error {
	first, err := b.makeRun(ctx, b.plain)
	if err != nil {
		return err
	}
	var mark string
	var at time.Time
	if err := first.idle(ctx, func(*session) (err error) { mark, at, err = b.saved(b.plain); return err }); err != nil {
		return err
	}
	again, err := b.makeRun(ctx, b.plain)
	if err != nil {
		return err
	}
	e, err := again.line(ctx, mark)
	s.add(savedMake, e.at.Sub(at))
	return errors.Join(err, again.end())
}

// imageFlags are those of slipway image build, slipway run and slipway dev.
var imageFlags = []string{"-trimpath", "-gcflags=all=-dwarf=false"}

// buildChange saves a mark and measures how long go build takes then.
func (b *bench) buildChange(ctx context.Context, flags ...string) (time.Duration, error) {
	if _, _, err := b.saved(b.plain); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := output(b.goBuild(ctx, b.plain, flags...))
	return time.Since(begin), err
}

// goBuild compiles the manager.
func (b *bench) goBuild(ctx context.Context, p project, flags ...string) *exec.Cmd {
	arguments := append([]string{"build", "-o", filepath.Join(b.dir, fmt.Sprintf("manager-%d", len(flags)))}, flags...)
	return b.command(ctx, string(p), "go", append(arguments, "./cmd")...)
}

package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

const (
	// guardPatience is how long a guard tries to restore webhooks, which begins when its run has been killed.
	guardPatience = 5 * time.Minute
	guardPause    = 200 * time.Millisecond
)

// guard starts a process that keeps the promise if this one is killed: in a cluster that others use, their writes would
// fail until the next slipway command. It learns of that by the end of its input. The promise has to be kept before end
// is called, or the process tries to, too. Options without a Guard have none.
func (o Options) guard(p *promise, l listening) (end func() error, err error) {
	if len(o.Guard) == 0 {
		return func() error { return nil }, nil
	}
	args := append(slices.Clone(o.Guard[1:]), p.path)
	if file := flagValue(l.args, "kubeconfig"); file != "" {
		args = append(args, "--kubeconfig", file)
	}
	cmd, err := process.Command(o.Guard[0], args...)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Env = o.Dir, o.Env // who reads this process's output does not wait for that one
	input, err := cmd.StdinPipe()
	var child *process.Child
	if err == nil {
		child, err = process.StartDetached(cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("start what restores the webhooks if this is killed: %w", err)
	}
	return func() error {
		_ = input.Close()
		if p.kept() {
			return child.Wait()
		}
		return nil
	}, nil
}

// kept reports whether nothing is to be taken back any more.
func (p *promise) kept() bool {
	_, err := os.Stat(p.path)
	return errors.Is(err, fs.ErrNotExist)
}

// Guard is the process that [Options.Guard] starts: it waits for the end of input, and then until the promise at path,
// of a run that was killed, is kept.
func Guard(ctx context.Context, o Options, path string, input io.Reader) error {
	_, _ = io.Copy(io.Discard, input) // that it fails is an end, too
	ctx, cancel := context.WithTimeout(ctx, guardPatience)
	defer cancel()
	p := &promise{path: path}
	for !p.kept() {
		cluster, err := ship.Connect(kubeconfig(o.Env, nil), report.Discard)
		if err == nil {
			err = TakeBack(ctx, o.State, cluster, report.Discard)
		}
		if p.kept() {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(guardPause):
		}
	}
	return nil
}

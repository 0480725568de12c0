package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// patience bounds each wait for an event.
const patience = 2 * time.Minute

// grace is how long a program may take to end after Ctrl-C.
const grace = 40 * time.Second

// An event is a line of a program's output. Only those of slipway dev have more than a text.
type event struct {
	at    time.Time
	Event string // part, output, …
	Name  string // of a part
	State string // of a part
	Part  string // that has printed a line
	Text  string
}

// session is a program that runs until Ctrl-C and prints events.
type session struct {
	cmd    *exec.Cmd
	events chan event // closed with the output's end
	seen   []event    // since the last call of since
}

// dev starts slipway dev in a folder.
func (b *bench) dev(ctx context.Context, p project, arguments ...string) (*session, error) {
	arguments = append([]string{"--output", "json", "dev"}, arguments...)
	return begin(b.command(ctx, string(p), b.slipway, arguments...), func(line []byte) (e event) {
		if json.Unmarshal(line, &e) != nil {
			e.Text = string(line)
		}
		return e
	})
}

// makeRun starts `make run`, without webhooks, for which it would need certificates.
func (b *bench) makeRun(ctx context.Context, p project) (*session, error) {
	cmd := b.command(ctx, string(p), "make", "run")
	cmd.Env = append(cmd.Env, "ENABLE_WEBHOOKS=false")
	return begin(cmd, func(line []byte) event { return event{Text: string(line)} })
}

func begin(cmd *exec.Cmd, parse func([]byte) event) (*session, error) {
	s := &session{cmd: cmd, events: make(chan event, 10_000)}
	apart(cmd)
	cmd.Cancel = func() error { return interrupt(cmd) } // it ends what it started
	cmd.WaitDelay = grace
	read, write, err := os.Pipe() // the end of the manager's output, and not of its parent, is the end of the program
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := errors.Join(cmd.Start(), write.Close()); err != nil {
		return nil, errors.Join(err, read.Close())
	}
	go s.read(read, parse)
	return s, nil
}

// read reads events until the output ends.
func (s *session) read(output io.ReadCloser, parse func([]byte) event) {
	defer close(s.events)
	defer func() { _ = output.Close() }()
	const longest = 1 << 20
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		at := time.Now()
		e := parse(lines.Bytes())
		e.at = at
		s.events <- e
	}
}

// Why a wait failed.
var (
	errEnded   = errors.New("it has ended")
	errNoEvent = errors.New("the event did not come")
)

// await returns the next event that is wanted.
func (s *session) await(ctx context.Context, what string, wanted func(event) bool) (event, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				return e, s.failed(what, errEnded)
			}
			s.seen = append(s.seen, e)
			if wanted(e) {
				return e, nil
			}
		case <-timer.C:
			return event{}, s.failed(what, errNoEvent)
		case <-ctx.Done():
			return event{}, context.Cause(ctx)
		}
	}
}

// failed is an error with what the program has printed last.
func (s *session) failed(what string, why error) error {
	const last = 20
	var text strings.Builder
	for _, e := range s.seen[max(0, len(s.seen)-last):] {
		fmt.Fprintf(&text, "%s %s %s %s\n", e.Event, e.Name, e.State, e.Text)
	}
	return fmt.Errorf("%s: wait for %s: %w\n%s", s.cmd, what, why, &text)
}

// line returns when the manager logs a text.
func (s *session) line(ctx context.Context, text string) (event, error) {
	return s.await(ctx, text, func(e event) bool { return strings.Contains(e.Text, text+"\t") })
}

// reconciled returns when the manager logs any mark.
func (s *session) reconciled(ctx context.Context) (event, error) {
	return s.await(ctx, "a reconcile", func(e event) bool { return strings.Contains(e.Text, "\tmark ") })
}

// ready returns when a part of slipway dev is ready.
func (s *session) ready(ctx context.Context, part string) (event, error) {
	return s.await(ctx, part, func(e event) bool { return e.Event == "part" && e.Name == part && e.State == "ready" })
}

// settle waits until nothing has happened for a while, and forgets what has.
func (s *session) settle(ctx context.Context) error {
	const quiet = 3 * time.Second
	for {
		select {
		case _, ok := <-s.events:
			if !ok {
				return s.failed("silence", errEnded)
			}
		case <-time.After(quiet):
			s.seen = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// end presses Ctrl-C and waits for the end of the program and of its output.
func (s *session) end() error {
	if err := interrupt(s.cmd); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	for range s.events { // nothing of it matters any more
	}
	err := s.cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil // make and the go command call an interruption an error
	}
	return err
}

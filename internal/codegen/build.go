package codegen

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
)

// lockPoll is how often a build that waits for another one looks again.
const lockPoll = 100 * time.Millisecond

// build puts the program at path. Of several builds at once one does the work,
// and the file appears in one step.
func (f *Finder) build(ctx context.Context, src source, path string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return &report.Error{What: name + " must be built first, and the go command is not on PATH", Err: err,
			Hint: "install Go from https://go.dev/dl, or set SLIPWAY_CODEGEN to a " + name + " program"}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return unusable(err)
	}
	lock := flock.New(path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return unusable(err)
	}
	defer func() { _ = lock.Unlock() }()
	if isFile(path) {
		return nil // by the one that was waited for
	}
	f.handler.Handle(report.Note{Text: "compiling " + name + ", which writes clients and apply configurations; this is done once"})
	begin := time.Now()
	temp, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return unusable(err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if err := src.compile(ctx, temp); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(temp, fileName()), path); err != nil {
		return unusable(err)
	}
	f.handler.Handle(report.Step{Name: "compiled " + name, Elapsed: time.Since(begin)})
	return nil
}

func unusable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &report.Error{What: "cannot use the cache folder", Err: err, Hint: "a folder that you may write; SLIPWAY_CACHE names another one"}
}

// compile makes the program in the folder out.
func (src source) compile(ctx context.Context, out string) error {
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "./cmd/" + name}
	env := []string{"GOWORK=off", "GOFLAGS=", "GOOS=", "GOARCH="}
	if src.dir == "" {
		args = []string{"install", "-ldflags=-s -w", mainPackage + "@" + src.version}
		env = append(env, "GOBIN="+out)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = src.dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &report.Error{What: name + " could not be built", Where: src.dir, Err: err, Hint: firstLines(said.String()), Next: "go " + strings.Join(args, " ")}
	}
	return nil
}

// shownLines is how much of what a failed program said is shown.
const shownLines = 12

func firstLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > shownLines {
		lines = append(lines[:shownLines:shownLines], "…")
	}
	return strings.Join(lines, "\n")
}

// Command testlog runs go test for make and for people: its output stays go test's own, and what each test took is
// written down.
//
//	go run ./hack/testlog -log FILE [-dir FOLDER] COMMAND ARGS...   # a command that prints what go test -json prints
//	go run ./hack/testlog -log FILE -slowest 20                     # the tests that took longest, from all runs in the log
//	go run ./hack/testlog -passed PART                              # a part of the long tests has passed, at this commit
//	go run ./hack/testlog -parts PART...                            # when these parts passed, and which are due
//
// A package that passes gets one line, the one that go test itself ends with. A test that fails is shown with all that
// it printed. When nothing has been shown for a while, the tests that run are. The exit code is the command's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.log, "log", "", "the `file` that events are added to, and read from")
	flag.StringVar(&o.dir, "dir", ".", "the `folder` in which the command runs")
	flag.IntVar(&o.slowest, "slowest", 0, "list so `many` tests, instead of running any")
	flag.StringVar(&o.passed, "passed", "", "write down that a `part` of the long tests has passed")
	flag.BoolVar(&o.parts, "parts", false, "list when the parts of the long tests passed that the arguments name")
	flag.Parse()
	err := run(ctx, os.Stdout, o, flag.Args())
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(max(1, exit.ExitCode())) // go test has said what is wrong
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	log, dir, passed string
	slowest          int
	parts            bool
}

var (
	errNoLog     = errors.New("-log names no file")
	errNoCommand = errors.New("there is no command to run; for instance: go test -json ./")
)

func run(ctx context.Context, out io.Writer, o options, args []string) error {
	switch {
	case o.passed != "" || o.parts:
		return ofParts(ctx, out, o, args)
	case o.log == "":
		return errNoLog
	case o.slowest > 0:
		return list(out, o.log, o.slowest)
	case len(args) == 0:
		return errNoCommand
	}
	file, err := os.OpenFile(o.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(follow(ctx, o.dir, args, out, file), file.Close())
}

// ofParts writes a pass down, or lists those of parts.
func ofParts(ctx context.Context, out io.Writer, o options, parts []string) error {
	file, err := partsFile()
	if err != nil {
		return err
	}
	now, err := head(ctx, o.dir)
	if err != nil {
		return err
	}
	if o.passed != "" {
		return record(file, pass{o.passed, time.Now(), now})
	}
	last, err := lastPasses(file)
	if err != nil {
		return err
	}
	return listParts(out, last, parts, now)
}

// patience is how long nothing is shown before the tests that run are, at the next look: in less than twenty seconds.
const patience = 15 * time.Second

// follow runs the command and shows what its tests do. An interrupt is left to the command, which gets it as well.
func follow(ctx context.Context, dir string, command []string, out, log io.Writer) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s := newScreen(out, log)
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(patience, ended)
	}()
	err = s.read(events)
	close(ended)
	<-watched
	s.rest()
	return errors.Join(err, cmd.Wait())
}

// Command testlog runs go test for make and for people: its output stays go test's own, and what each test took is
// written down.
//
//	go run ./hack/testlog -log FILE [-dir FOLDER] COMMAND ARGS...   # a command that prints what go test -json prints
//	        [-- [-dir FOLDER] COMMAND ARGS...]...                    # and others, one after the other
//	go run ./hack/testlog -log FILE -slowest 20                     # the tests that took longest, from all runs in the log
//	go run ./hack/testlog -log FILE -passed PART                    # a part of the long tests has passed, at this commit
//	go run ./hack/testlog -parts PART...                            # when these parts passed, and which are due
//
// A package that passes gets one line, the one that go test itself ends with. A test that fails is shown with the last
// lines that it printed; if there are more, the log has all. When nothing has been shown for a while, the tests that
// run are. The exit code is the command's, or that of the first that failed: the others run to their end.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
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
	case o.parts:
		return showParts(ctx, out, o.dir, args)
	case o.log == "":
		return errNoLog
	case o.passed != "":
		return notePass(ctx, out, o)
	case o.slowest > 0:
		return list(out, o.log, o.slowest)
	}
	file, err := os.OpenFile(o.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(follow(ctx, o.dir, args, out, file), file.Close())
}

// patience is how long nothing is shown before the tests that run are, at the next look: in less than twenty seconds.
const patience = 15 * time.Second

// follow runs the commands that "--" separates in turn, and shows what their tests do. An interrupt is left to them,
// which get it as well, and no other begins.
func follow(ctx context.Context, dir string, args []string, out, log io.Writer) error {
	s := newScreen(out, log)
	ended := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watch(patience, ended)
	}()
	var first error
	for _, c := range commands(dir, args) {
		first = cmp.Or(first, c.run(ctx, s))
	}
	close(ended)
	<-watched
	s.rest()
	return first
}

// command is one that prints what go test -json prints, and its folder.
type command struct {
	dir  string
	args []string
}

// commands are those that "--" separates. The folder is that of the first; others name theirs.
func commands(dir string, args []string) []command {
	i := slices.Index(args, "--")
	if i < 0 {
		return []command{{dir, args}}
	}
	rest, next := args[i+1:], "."
	if len(rest) > 1 && rest[0] == "-dir" {
		next, rest = rest[1], rest[2:]
	}
	return append([]command{{dir, args[:i]}}, commands(next, rest)...)
}

func (c command) run(ctx context.Context, s *screen) error {
	if len(c.args) == 0 || ctx.Err() != nil {
		return cmp.Or(ctx.Err(), errNoCommand)
	}
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Stderr = c.dir, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = errors.Join(s.read(events), cmd.Wait())
	if err != nil {
		s.failure(c)
	}
	return err
}

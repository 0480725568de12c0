//go:build unix

// Command examples does what the section "Try it" of each example's README says, in a cluster of its own, and prints a
// line for each.
//
//	go run ./hack/examples -bin bin examples/guestbook examples/toy
//
// The section's first block of shell commands is one terminal: its last command runs until the example has ended. The
// second block is the other terminal, which begins when the first shows what stands in backticks between the two. There
// each command must succeed, in the end: it is asked again for a while, since the operator works beside it. One whose
// line ends in "# refused" must be refused by the API server. The commands are those of a Unix shell.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bin := flag.String("bin", "bin", "the `folder` with the program slipway")
	flag.Parse()
	if err := runAll(ctx, *bin, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "examples:", err)
		os.Exit(1)
	}
}

// runAll runs the examples in turn; one that fails does not keep the others from running.
func runAll(ctx context.Context, bin string, dirs []string) error {
	failed := 0
	for _, dir := range dirs {
		start := time.Now()
		n, err := try(ctx, bin, dir)
		took := time.Since(start).Round(100 * time.Millisecond)
		if err != nil {
			failed++
			fmt.Printf("FAIL  %-18s %7s  %v\n", filepath.Base(dir), took, err)
			continue
		}
		fmt.Printf("ok    %-18s %7s  %d commands\n", filepath.Base(dir), took, n)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d examples are not as their README says", failed, len(dirs))
	}
	return ctx.Err()
}

// deleteClusters ends all clusters of the example, also those that a failure has left.
func (t *terminal) deleteClusters(ctx context.Context, home string) error {
	clusters, err := os.ReadDir(filepath.Join(home, "state", "clusters"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = nil
	for _, c := range clusters {
		err = errors.Join(err, t.run(ctx, "slipway cluster delete "+c.Name()))
	}
	return err
}

// try does what an example's README says, and returns how many commands that were.
func try(ctx context.Context, bin, dir string) (n int, err error) {
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return 0, err
	}
	s, err := read(string(readme))
	if err != nil {
		return 0, fmt.Errorf("%s/README.md: %w", dir, err)
	}
	home, err := os.MkdirTemp("", "slipway-example-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	t, err := newTerminal(bin, dir, home)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.deleteClusters(context.WithoutCancel(ctx), home)) }()
	before, operating := s.first[:len(s.first)-1], s.first[len(s.first)-1]
	for _, line := range before {
		if err := t.run(ctx, line); err != nil {
			return 0, err
		}
	}
	operator, err := t.start(operating)
	if err != nil {
		return 0, err
	}
	if err = operator.awaits(ctx, s.works); err == nil {
		err = t.follow(ctx, operator, s.second)
	}
	return len(s.first) + len(s.second), errors.Join(err, operator.end())
}

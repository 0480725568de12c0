// Command soak works a cluster hard for a long time and fails when it grows.
//
//	go run ./soak              # 30 minutes
//	go run ./soak -for 2m
//
// One cluster lives through the whole run, and one, a durable one, is stopped or killed and started again now and then.
// Each cycle creates, changes and deletes objects of a custom resource that is itself new, while others watch and count
// what they see; runs pods; adds a logical cluster, uses and removes it; and resets the cluster. Then the program's
// garbage is collected again and again, until its goroutines, its heap and its resident memory become less no more, and
// these are noted. At the end, the first cycles aside, and for resident memory a third of the run, each of them must
// not have grown, by a trend that single outliers do not change ([trend]). When goroutines have, the report says at
// which places in the code.
//
// The API server compacts etcd's history every 15 seconds instead of every five minutes, so that old revisions are the
// same small part of the memory at every sample.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/bench/assets"
	"github.com/slipway-dev/slipway/bench/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("soak", flag.ExitOnError) // flag.CommandLine has controller-runtime's -kubeconfig too
	length := flags.Duration("for", 30*time.Minute, "how long")
	_ = flags.Parse(os.Args[1:])
	klog.SetLogger(logr.Discard()) // client-go's on connections that end
	if err := run(ctx, os.Stdout, *length); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, length time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "slipway-soak-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, err := assets.Program(ctx, dir)
	if err != nil {
		return err
	}
	flags := []string{"--etcd-compaction-interval=15s"}
	lasting, err := newLasting(ctx, controlplane.Slipway{Program: program, Dir: filepath.Join(dir, "lasting"), Flags: flags})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lasting.plane.Stop()) }()
	restarted := &restarted{starter: controlplane.Slipway{Program: program, Dir: filepath.Join(dir, "restarted"), Flags: flags, Durable: true}}
	if err := cycles(ctx, out, length, lasting, restarted); err != nil {
		return err
	}
	return report(ctx, out, lasting, restarted)
}

// restartEvery is after how many cycles the other cluster has its turn.
const restartEvery = 5

func cycles(ctx context.Context, out io.Writer, length time.Duration, lasting *lasting, restarted *restarted) error {
	for end, n := time.Now().Add(length), 0; time.Now().Before(end); n++ {
		s, err := lasting.cycle(ctx, n)
		if err != nil {
			return fmt.Errorf("cycle %d: %w", n, err)
		}
		fmt.Fprintf(out, "cycle %d: %d goroutines, heap %.1f MiB, resident %.1f MiB, reset %.1f ms\n",
			n, int(s.goroutines), s.heap, s.resident, s.reset)
		if n%restartEvery != 0 {
			continue
		}
		r, err := restarted.cycle(ctx, n)
		if err != nil {
			return fmt.Errorf("cycle %d, restart: %w", n, err)
		}
		fmt.Fprintf(out, "restart %d: %d goroutines, heap %.1f MiB, resident %.1f MiB\n",
			n/restartEvery, int(r.goroutines), r.heap, r.resident)
	}
	return nil
}

// Command suites runs controller-runtime's own test suites, unchanged, on the control plane that slipway-cluster is
// under the names `etcd` and `kube-apiserver`, and on stock programs of the same versions, and compares what became of
// each test.
//
//	go run ./suites                  # all packages that start a control plane
//	go run ./suites client webhook   # those below pkg/
//
// The suites are those of the controller-runtime version that this module pins, from a copy of the module, each package
// compiled once. It fails when a test passes on stock programs and not on ours. Because these suites have tests that
// fail now and then on any control plane, a package in which one failed is run again, up to three times in all: a test
// passes when it does so once, and the table tells how many needed that. What fails on both, such as tests that
// download an old Kubernetes when there is no network, is listed.
//
// SLIPWAY_CLUSTER names the built program; otherwise it is built.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/slipway-dev/slipway/bench/assets"
)

// all are the packages whose tests start a control plane.
var all = []string{
	"client", "client/apiutil", "cache", "envtest", "manager", "manager/internal/integration", "webhook",
	"builder", "cluster", "controller", "controller/controllerutil", "handler", "internal/controller", "internal/recorder",
	"metrics/filters", "reconcile", "source",
}

var errDiffer = errors.New("tests that pass on stock programs fail on ours")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("suites", flag.ExitOnError) // flag.CommandLine has controller-runtime's -kubeconfig too
	_ = flags.Parse(os.Args[1:])
	packages := flags.Args()
	if len(packages) == 0 {
		packages = all
	}
	if err := run(ctx, os.Stdout, packages); err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, packages []string) error {
	dir, err := os.MkdirTemp("", "slipway-suites-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ours, err := assets.Ours(ctx, dir)
	if err != nil {
		return err
	}
	stock, err := assets.Stock(ctx)
	if err != nil {
		return err
	}
	module, err := copyModule(ctx, dir)
	if err != nil {
		return err
	}
	t := table{out: out}
	t.head()
	for _, pkg := range packages {
		suite, err := module.compile(ctx, pkg)
		if err != nil {
			return err
		}
		var c comparison
		if c.stock, err = suite.settle(ctx, stock); err != nil {
			return err
		}
		if c.ours, err = suite.settle(ctx, ours); err != nil {
			return err
		}
		t.row(pkg, c)
	}
	return t.end()
}

// Command suites runs the test suites of other projects, unchanged, on the control plane that slipway-cluster is under
// the names `etcd` and `kube-apiserver`, and on stock programs of the same versions, and compares what became of each
// test.
//
//	go run ./suites                                         # controller-runtime's packages that start a control plane
//	go run ./suites controller-runtime pkg/client           # some of them
//	go run ./suites operators                               # operators, as they come from the module proxy
//	go run ./suites lws                                     # one of them
//	go run ./suites -controllers gc,namespace rabbitmq      # with controllers on ours
//
// The suites are those of the controller-runtime version that this module pins and of the versions in [projects], each
// from a copy of the module, each package compiled once. It fails when a test passes on stock programs and not on ours.
// Because these suites have tests that fail now and then on any control plane, a package in which one failed is run
// again, up to three times in all: a test passes when it does so once, and the table shows how many needed that. The
// command lists the tests that fail on both, such as those that download an old Kubernetes when there is no network.
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

var errDiffer = errors.New("tests that pass on stock programs fail on ours")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("suites", flag.ExitOnError) // flag.CommandLine has controller-runtime's -kubeconfig too
	controllers := flags.String("controllers", "", "value of SLIPWAY_CONTROLLERS on ours; empty: without controllers")
	_ = flags.Parse(os.Args[1:])
	chosen, err := choose(flags.Args())
	if err == nil {
		err = run(ctx, os.Stdout, chosen, *controllers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

// run compares the projects' packages, on ours with the controllers that are named.
func run(ctx context.Context, out io.Writer, chosen []project, controllers string) error {
	dir, err := os.MkdirTemp("", "slipway-suites-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	folder, err := assets.Ours(ctx, dir)
	if err != nil {
		return err
	}
	ours := plane{folder, controllers}
	if folder, err = assets.Stock(ctx); err != nil {
		return err
	}
	stock := plane{folder, ""}
	t := table{out: out}
	t.head()
	for _, p := range chosen {
		if err := p.compare(ctx, dir, ours, stock, &t); err != nil {
			return err
		}
	}
	return t.end()
}

// compare adds a row to the table for each of the project's packages.
func (p project) compare(ctx context.Context, dir string, ours, stock plane, t *table) error {
	module, err := copyModule(ctx, dir, p)
	if err != nil {
		return err
	}
	for _, pkg := range p.packages {
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
		t.row(p.name+" "+pkg, c)
	}
	return nil
}

// Command bump-kubernetes upgrades the embedded Kubernetes, from go.mod to the tests:
//
//	go run ./hack/bump-kubernetes             # to the newest release that can be had
//	go run ./hack/bump-kubernetes v1.38.0     # to this one
//	go run ./hack/bump-kubernetes -modules cluster,. v1.38.0
//
// It runs in the repository's root folder. Before anything is changed it downloads what it needs. Then it sets
// k8s.io/kubernetes, its staging modules and etcd as that release's own go.mod has them, writes the version down,
// builds the program, has that record the seed and the help of kube-apiserver, runs the tests of the cluster's module,
// and ends with what is left for people: wiring whose upstream counterpart has changed (package
// cluster/internal/wiring), tests that fail, places that still name the old version. When the modules cannot be had or
// do not fit together, go.mod and go.sum are as before.
//
// With -check it ends after the modules, the version and the wiring, before the long compile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	modules := flag.String("modules", "cluster", "the `folders` whose go.mod is upgraded, separated by commas")
	check := flag.Bool("check", false, "end before the long compile")
	flag.Parse()
	b := &bump{modules: strings.Split(*modules, ","), check: *check}
	if err := b.run(ctx, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "bump-kubernetes:", err)
		os.Exit(1)
	}
}

// errLeft says that something is left to be done by hand.
var errLeft = errors.New("not done yet, see above")

// bump is one upgrade.
type bump struct {
	modules []string // folders
	check   bool
	left    []string // what people have to do
}

// run follows the order in which the parts need each other.
func (b *bump) run(ctx context.Context, asked string) error {
	from, err := embedded()
	if err != nil {
		return err
	}
	wanted, err := choose(ctx, asked, from)
	if err != nil {
		return err
	}
	to := wanted[0].Version
	before := committed(ctx, from)
	say("from v%s to %s", before, to)
	for _, folder := range b.modules {
		if err := require(ctx, folder, before, wanted); err != nil {
			return fmt.Errorf("%s/go.mod: %w", folder, err)
		}
		missing, err := unpinned(folder, wanted)
		if err != nil {
			return err
		}
		for _, path := range missing {
			b.left = append(b.left, fmt.Sprintf("%s is new: import a package of it in cluster/internal/pins and run this command again", path))
		}
	}
	if err := writeVersion(to); err != nil {
		return err
	}
	b.verify(ctx, "wiring", "look at each file, then run: go test -C cluster ./internal/wiring -update",
		"go", "test", "-C", "cluster", "-count=1", "./internal/wiring")
	if !b.check {
		b.buildAndTest(ctx)
	}
	return b.tell(ctx, before, to)
}

// buildAndTest goes on after a failure, as far as that makes sense: the more is known the better.
func (b *bump) buildAndTest(ctx context.Context) {
	if !b.verify(ctx, "compile", "follow upstream's changes, then run this command again", "go", "build", "-C", "cluster", "./...") {
		return
	}
	if b.verify(ctx, "seed", "find out why a fresh cluster does not start, then run: go generate -C cluster ./seed", "go", "generate", "-C", "cluster", "./seed") {
		b.verify(ctx, "help", "look what kube-apiserver --help says", "go", "test", "-C", "cluster", "./test", "-run", "TestHelpIsRecorded", "-update")
		b.verify(ctx, "tests of the cluster", "mend them, then run: make test", "go", "test", "-C", "cluster", "./...")
	}
	b.verify(ctx, "tests of the command", "mend them, then run: make test",
		"go", "test", "./internal/setupenvtest", "./internal/clusterctl/...", "./internal/repotest/...")
}

// verify runs a step, shows its output and remembers what to do when it fails.
func (b *bump) verify(ctx context.Context, step, remedy, name string, args ...string) bool {
	say("%s: %s %s", step, name, strings.Join(args, " "))
	if err := show(ctx, name, args...); err != nil {
		b.left = append(b.left, fmt.Sprintf("%s (%v): %s", step, err, remedy))
		return false
	}
	return true
}

// tell lists what is left.
func (b *bump) tell(ctx context.Context, from, to string) error {
	if ctx.Err() != nil {
		return errors.New("interrupted; run the same command again to go on")
	}
	if b.check {
		b.left = append(b.left, "compile, seed and tests were not run: run this command without -check")
	}
	if places := mentions(ctx, from); len(places) > 0 {
		b.left = append(b.left, fmt.Sprintf("these still say %s, rightly or not:\n      %s", from, strings.Join(places, "\n      ")))
	}
	if minor(from) != minor(to) {
		b.left = append(b.left, "a new minor version: read upstream's urgent upgrade notes, go through the list in cluster/controllers/all.go, "+
			"and raise the versions that `slipway setup-envtest` offers")
	}
	if len(b.left) == 0 {
		say("done; nothing is left to be done by hand")
		return nil
	}
	say("left to be done by hand:")
	for _, l := range b.left {
		fmt.Printf("  - %s\n", l)
	}
	return errLeft
}

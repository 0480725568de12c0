package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/gate"
	"github.com/slipway-dev/slipway/internal/program"
	"github.com/slipway-dev/slipway/internal/report"
)

// clusterProgram is the compiled cluster program, or empty: tests do not compile
// it, `make test` does before it runs them.
var clusterProgram = sync.OnceValues(func() (string, error) {
	path, found, err := clusterctl.New(os.Getenv, report.Discard).FindProgram(context.Background())
	if !found {
		return "", err
	}
	return path, err
})

// clusterEnv makes the compiled cluster program known to a script, and ends the
// clusters that the script leaves behind when it fails. A script fails if a kubelet panicked.
func clusterEnv(env *testscript.Env) error {
	path, err := clusterProgram()
	env.Setenv("SLIPWAY_CLUSTER", path)
	node, nodeErr := nodeProgram()
	env.Setenv("SLIPWAY_NODE", node)
	env.Defer(func() { noPanic(env) }) // after the clusters' end
	env.Defer(func() { endClusters(clusterctl.New(env.Getenv, report.Discard)) })
	return errors.Join(err, nodeErr)
}

func endClusters(control *clusterctl.Control) {
	left, err := control.List(context.Background())
	if err != nil {
		panic(err)
	}
	for _, cluster := range left {
		if _, err := control.Stop(context.Background(), cluster.Name); err != nil {
			panic(err)
		}
	}
}

// panicked is a line in the log of nodes about a panic that slipway-node has recovered, or that has ended it.
var panicked = regexp.MustCompile(`(?m)^.*(slipway-node: panic: |\bpanic: |\bfatal error: ).*$`)

// noPanic fails the script if the nodes' log of one of its clusters has a panic. A node that ends is started again, so
// the script may have seen nothing of it.
func noPanic(env *testscript.Env) {
	err := filepath.WalkDir(env.Getenv("XDG_STATE_HOME"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(d.Name(), "nodes.log") || !d.Type().IsRegular() {
			return nil // a folder of a node's users, or none at all
		}
		log, err := os.ReadFile(path)
		if line := panicked.Find(log); line != nil {
			err = fmt.Errorf("%s has a panic: %s", path, line)
		}
		return err
	})
	if err != nil {
		env.T().Fatal(err)
	}
}

// nodeProgram is the compiled program of real nodes, or empty: like the cluster's, tests do not compile it.
var nodeProgram = sync.OnceValues(func() (string, error) {
	path, found, err := program.NewFinder(os.Getenv, report.Discard).FindNode()
	if !found {
		return "", err
	}
	return path, err
})

// nodesCondition is the condition [nodes]: there is a compiled program of real nodes.
func nodesCondition() (bool, error) {
	path, err := nodeProgram()
	return path != "", err
}

// clusterCondition is the condition [cluster]: there is a compiled cluster program.
func clusterCondition() (bool, error) {
	path, err := clusterProgram()
	return path != "", err
}

// startCluster is the script command `cluster`: it starts a cluster that lives as
// long as the script and makes it the one that KUBECONFIG names.
func startCluster(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: cluster")
	}
	control := clusterctl.New(ts.Getenv, report.Discard)
	session, err := control.Tie(context.Background(), "script", clusterctl.Options{})
	ts.Check(err)
	ts.Defer(func() {
		if err := session.Close(); err != nil {
			ts.Logf("ending the cluster: %v", err)
		}
	})
	ts.Setenv("KUBECONFIG", session.Kubeconfig)
}

// freePort is the script command `freeport NAME`: a variable gets a TCP port that is this script's until it ends.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport NAME")
	}
	port, release, err := gate.FreePort()
	ts.Check(err)
	ts.Defer(release)
	ts.Setenv(args[0], strconv.Itoa(port))
}

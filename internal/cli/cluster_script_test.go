package cli_test

import (
	"context"
	"errors"
	"os"
	"strconv"
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
// clusters that the script leaves behind when it fails.
func clusterEnv(env *testscript.Env) error {
	path, err := clusterProgram()
	env.Setenv("SLIPWAY_CLUSTER", path)
	node, nodeErr := nodeProgram()
	env.Setenv("SLIPWAY_NODE", node)
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

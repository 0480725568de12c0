package cli_test

import (
	"cmp"
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
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
	"github.com/slipway-dev/slipway/internal/testlock"
)

// clusterEnv names to a script the programs that the environment names, and ends the clusters that the script leaves
// behind when it fails. A script fails if a kubelet panicked.
func clusterEnv(env *testscript.Env) {
	env.Setenv("SLIPWAY_CLUSTER", cmp.Or(os.Getenv("SLIPWAY_CLUSTER"), filepath.Join(env.WorkDir, ".not-compiled")))
	env.Setenv("SLIPWAY_NODE", cmp.Or(os.Getenv("SLIPWAY_NODE"), filepath.Join(env.WorkDir, ".not-compiled")))
	env.Setenv("SLIPWAY_CHECK", cmp.Or(os.Getenv("SLIPWAY_CHECK"), "off"))
	env.Defer(func() { noPanic(env) }) // after the clusters' end
	env.Defer(func() { endClusters(clusterctl.New(env.Getenv, report.Discard)) })
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

// clusterPool has clusters that scripts take in turn. There are as many as scripts have had one at a time.
type clusterPool struct {
	mu   sync.Mutex
	free []*clusterctl.Session // each as it was when it became ready
}

// scriptT is the key of a script's testing.TB among its values.
type scriptT struct{}

// command is the script command `cluster`: KUBECONFIG names a cluster with a simulated node until the script ends.
// Another script may have had it; it was reset since. The cluster of a script that fails is no other's.
func (p *clusterPool) command(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: cluster")
	}
	session, err := p.take(ts)
	ts.Check(err)
	t := ts.Value(scriptT{}).(testing.TB)
	ts.Defer(func() { // after the last command, where ts.Check would end all tests without a reason
		if t.Failed() {
			_ = session.Close()
		} else if err := resetCluster(session); err != nil { // not what the script is about, and a busy machine may be to blame
			t.Logf("no other script gets this cluster: %v", errors.Join(err, session.Close()))
		} else {
			p.put(session)
		}
	})
	ts.Setenv("KUBECONFIG", session.Kubeconfig)
}

func (p *clusterPool) take(ts *testscript.TestScript) (*clusterctl.Session, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		session := p.free[n-1]
		p.free = p.free[:n-1]
		return session, nil
	}
	return clusterctl.New(ts.Getenv, report.Discard).Tie(context.Background(), "script", clusterctl.Options{Socket: true, Timeout: testlimit.Hang})
}

func (p *clusterPool) put(session *clusterctl.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, session)
}

func (p *clusterPool) close() {
	for _, session := range p.free {
		_ = session.Close()
	}
}

// resetCluster takes a cluster back to where it was when it became ready.
func resetCluster(session *clusterctl.Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), testlimit.Hang)
	defer cancel()
	conn, err := protocol.Dial(ctx, session.Socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.Until(ctx)()
	return conn.Call("reset", nil, &protocol.ResetDone{}, func(protocol.Event) {})
}

// freePort is the script command `freeport NAME`: a variable gets a TCP port that is this script's until it ends.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport NAME")
	}
	port, release, err := testlock.FreePort()
	ts.Check(err)
	ts.Defer(release)
	ts.Setenv(args[0], strconv.Itoa(port))
}

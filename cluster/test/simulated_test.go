package test

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/internal/testlock"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/version"
)

// TestSimulated shows what the user of a cluster with simulated nodes sees, all of it on one cluster. What controllers
// do is shown at the same time on a logical cluster in the same process, since parts of Kubernetes that work once per
// process would not work there.
func TestSimulated(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	config.Port = testlock.Port(t)
	daemons := map[string]string{"daemons": "yes"}
	large, fast := maps.Clone(daemons), maps.Clone(daemons)
	large["size"], fast["disk"] = "large", "ssd"
	config.Nodes = []protocol.Node{
		{Name: "large", Labels: large, Capacity: map[string]string{"cpu": "128"}},
		{Name: "fast", Labels: fast, Taints: []string{"dedicated=fast:NoSchedule"}, Capacity: map[string]string{"cpu": "4"}},
		{Name: "lonely", Taints: []string{"lonely=yes:NoSchedule"}},
	}
	p := start(t, config)
	var second protocol.LogicalAdded
	p.call("addLogical", protocol.AddLogical{Name: "second", Controllers: new(true), Nodes: config.Nodes}, &second)
	c := p.clients()
	t.Run("hello comes first", func(t *testing.T) { helloComesFirst(t, p) })
	t.Run("files are for the owner only", func(t *testing.T) { filesAreForOwner(t, config) })
	t.Run("a second cluster in the same folder fails", func(t *testing.T) { secondFails(t, p) })
	t.Run("kubectl", func(t *testing.T) { kubectlVerb(t, config) })
	t.Run("first use", func(t *testing.T) { testFirstUse(t, c) })
	t.Run("no real node joins", func(t *testing.T) { testNothingJoins(t, p, clientsOf(t, second.Kubeconfig)) })
	t.Run("together", func(t *testing.T) {
		t.Run("lost node", func(t *testing.T) {
			t.Parallel()
			testLost(t, p)
		})
		for kind, all := range map[string]map[string]func(*testing.T, clients, string){
			"behaviours": behaviours, "nodes": ofNodes, "webhooks": webhooks, "controllers": ofControllers,
		} {
			t.Run(kind, func(t *testing.T) { showAll(t, c, all) })
		}
		t.Run("controllers of a logical cluster", func(t *testing.T) { showAll(t, clientsOf(t, second.Kubeconfig), ofControllers) })
	})
	t.Run("stop while adding", func(t *testing.T) { testStopWhileAdding(t, p) })
}

// showAll has each function show something in a namespace of its own, side by side with all others.
func showAll(t *testing.T, c clients, all map[string]func(*testing.T, clients, string)) {
	t.Parallel()
	for name, show := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c, newNamespace(t, c))
		})
	}
}

func helloComesFirst(t *testing.T, p *program) {
	hello := p.history[0]
	if hello.Event != "hello" || hello.Protocol != protocol.Number || hello.Kubernetes != version.Kubernetes || hello.PID != p.cmd.Process.Pid {
		t.Errorf("first event: %+v", hello)
	}
	serverVersion, err := p.clients().Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := serverVersion.GitVersion, "v"+version.Kubernetes; got != want {
		t.Errorf("the API server says %s, want %s", got, want)
	}
	if got, want := p.dial(t).next("ready").Server, fmt.Sprintf("https://127.0.0.1:%d", p.config.Port); got != want {
		t.Errorf("server %s, want %s", got, want)
	}
}

func filesAreForOwner(t *testing.T, config protocol.Config) {
	if err := filepath.WalkDir(config.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // etcd's temporary files come and go
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %o", path, mode)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func secondFails(t *testing.T, p *program) {
	second := launch(t, p.config)
	failed := second.next("failed")
	if !strings.Contains(failed.Error, p.config.Dir) || failed.Hint == "" {
		t.Errorf("failed: %+v", failed)
	}
	if status := second.waitExit(); status != 1 {
		t.Errorf("exit status %d", status)
	}
	if _, err := p.clients().CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("the first cluster suffers: %v", err)
	}
}

func kubectlVerb(t *testing.T, config protocol.Config) {
	out, stderr, status := kubectl(t, config, "", "get", "nodes", "-o", "name")
	if status != 0 || strings.TrimSpace(out) != "node/fast\nnode/large\nnode/lonely" {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, stderr)
	}
}

package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

func (c *client) addLogical(name string, controllers bool) protocol.LogicalAdded {
	c.t.Helper()
	var added protocol.LogicalAdded
	c.call("addLogical", protocol.AddLogical{Name: name, Controllers: &controllers}, &added)
	return added
}

func (c *client) logical() []protocol.LogicalCluster {
	c.t.Helper()
	var status protocol.Status
	c.call("status", protocol.Empty{}, &status)
	return status.Logical
}

// TestLogical has logical clusters come and go beside the main one, which ends with what is open then.
func TestLogical(t *testing.T) {
	t.Parallel()
	p := start(t, newConfig(t))
	t.Run("keep", func(t *testing.T) { testKeep(t, p) })
	t.Run("their life", func(t *testing.T) { testLogical(t, p) })
	t.Run("their memory", func(t *testing.T) { testRemovedLeavesNoMemory(t, p) })
	t.Run("stop", func(t *testing.T) { testStopWithWatches(t, p) })
}

func testLogical(t *testing.T, p *program) {
	main := p.clients()
	a, b := p.addLogical("a", true), p.addLogical("b", false)
	t.Logf("with controllers %d ms, without %d ms", a.ElapsedMs, b.ElapsedMs)
	first, second := clientsOf(t, a.Kubeconfig), clientsOf(t, b.Kubeconfig)

	t.Run("status lists them", func(t *testing.T) {
		if got := fmt.Sprint(p.logical()); got != fmt.Sprint([]protocol.LogicalCluster{a.LogicalCluster, b.LogicalCluster}) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("objects are their own", func(t *testing.T) {
		makeConfigMap(t, first, "mine")
		for name, c := range map[string]clients{"main": main, "second": second} {
			if _, err := configMap(t, c, "mine"); !apierrors.IsNotFound(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		jobCompletes(t, first, "default")
	})
	t.Run("credentials of one are refused by others", func(t *testing.T) {
		credentialsAreRefused(t, main, second, first)
		credentialsAreRefused(t, first, second, main)
	})
	t.Run("reset", func(t *testing.T) {
		makeConfigMap(t, main, "stays")
		p.resetTo("a")
		if _, err := configMap(t, first, "mine"); !apierrors.IsNotFound(err) {
			t.Errorf("in the one that was reset: %v", err)
		}
		if _, err := configMap(t, main, "stays"); err != nil {
			t.Errorf("in another one: %v", err)
		}
		deploymentWorks(t, first, "after")
	})
	t.Run("mistakes are refused", func(t *testing.T) { mistakesAreRefused(t, p) })
	t.Run("removed ones are gone", func(t *testing.T) { removedAreGone(t, p, a, first, main) })
	for _, name := range []string{"a", "b"} {
		p.call("removeLogical", protocol.RemoveLogical{Name: name}, nil)
	}
}

// credentialsAreRefused tries the administrators of two clusters, as each other's cluster sees them.
func credentialsAreRefused(t *testing.T, one, other, third clients) {
	t.Helper()
	for _, credentials := range []clients{other, third} {
		config := rest.CopyConfig(one.config)
		config.CertData, config.KeyData = credentials.config.CertData, credentials.config.KeyData
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsUnauthorized(err) {
			t.Errorf("%s takes the administrator of %s: %v", one.config.Host, credentials.config.Host, err)
		}
	}
}

func mistakesAreRefused(t *testing.T, p *program) {
	for _, tt := range []struct {
		method string
		params any
		want   string
	}{
		{"addLogical", protocol.AddLogical{Name: "a"}, "a logical cluster of that name exists"},
		{"addLogical", protocol.AddLogical{Name: "A/../b"}, "DNS label"},
		{"addLogical", protocol.AddLogical{Name: "bad", APIServerFlags: []string{"--no-such-flag"}}, "no-such-flag"},
		{"addLogical", protocol.AddLogical{Name: "bad", Nodes: []protocol.Node{{Name: "n", Taints: []string{"x"}}}}, "taint"},
		{"removeLogical", protocol.RemoveLogical{Name: "absent"}, "there are: a, b"},
	} {
		if refusal := p.ask(tt.method, tt.params, nil); !strings.Contains(refusal, tt.want) {
			t.Errorf("%s %+v: %q", tt.method, tt.params, refusal)
		}
	}
	if got := p.logical(); len(got) != 2 {
		t.Errorf("left are %v", got)
	}
}

func removedAreGone(t *testing.T, p *program, a protocol.LogicalAdded, first, main clients) {
	p.call("removeLogical", protocol.RemoveLogical{Name: "a"}, nil)
	if _, err := first.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("it still answers")
	}
	if _, err := os.Stat(filepath.Dir(a.Kubeconfig)); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
	again := clientsOf(t, p.addLogical("a", true).Kubeconfig)
	if _, err := configMap(t, again, "mine"); !apierrors.IsNotFound(err) {
		t.Errorf("one that was made anew: %v", err)
	}
	jobCompletes(t, again, "default")
	if _, err := configMap(t, main, "stays"); err != nil {
		t.Errorf("the main cluster: %v", err)
	}
}

// testStopWithWatches ends a program with fifty open watches and a logical cluster.
func testStopWithWatches(t *testing.T, p *program) {
	logical := clientsOf(t, p.addLogical("a", true).Kubeconfig)
	main := p.clients()
	for i := range 50 {
		c := main
		if i%2 == 1 {
			c = logical
		}
		// A connection of its own each, as `kubectl get --watch` has.
		own, err := kubernetes.NewForConfig(rest.CopyConfig(c.config))
		if err != nil {
			t.Fatal(err)
		}
		watch, err := own.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Stop()
	}
	begin := time.Now()
	p.stop()
	t.Logf("stopping took %v", time.Since(begin))
	if reason := p.next("stopped").Reason; reason != string(protocol.ByStdin) {
		t.Errorf("reason %q", reason)
	}
}

// testStopWhileAdding ends a program that is starting a logical cluster.
func testStopWhileAdding(t *testing.T, p *program) {
	request, err := json.Marshal(map[string]any{"id": 1, "method": "addLogical", "params": protocol.AddLogical{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	p.send(string(request))
	eventually(t, "it is being started", func(context.Context) (bool, error) {
		_, err := os.Stat(filepath.Join(p.config.Dir, "logical", "a", "pki"))
		return err == nil, nil
	})
	p.stop()
}

// testRemovedLeavesNoMemory leaves logical clusters in the middle of watches, as tests that end do, and removes them.
func testRemovedLeavesNoMemory(t *testing.T, p *program) {
	main := p.clients()
	useOnce := func() {
		connection, leave := leaving(t, p.addLogical("a", true).Kubeconfig)
		if _, err := connection.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		leave()
		p.call("removeLogical", protocol.RemoveLogical{Name: "a"}, nil)
	}
	useOnce() // what a program has once
	before := heap(t, main)
	const (
		times = 3
		bar   = 20 << 20 // one cluster is thirty megabytes
	)
	for range times {
		useOnce()
	}
	eventually(t, "their memory is free", func(context.Context) (bool, error) { return heap(t, main) < before+bar, nil })
}

// testHistory asks for the state of long ago, which the server must not keep after the removal of a cluster.
func testHistory(t *testing.T, p *program) {
	p.addLogical("a", false)
	p.call("removeLogical", protocol.RemoveLogical{Name: "a"}, nil)
	c := p.clients()
	now, err := c.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is now is forgotten", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{
			ResourceVersion: now.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact,
		})
		return apierrors.IsResourceExpired(err), nil
	})
}

// leaving is a client with a connection of its own, which it closes when it leaves.
func leaving(t *testing.T, path string) (c kubernetes.Interface, leave func()) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	var connection net.Conn
	config.Dial = func(ctx context.Context, network, address string) (_ net.Conn, err error) {
		connection, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return connection, err
	}
	if c, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	return c, func() { _ = connection.Close() }
}

// heap is what is left of a program's heap, in bytes, when the garbage has been collected.
func heap(t *testing.T, c clients) (bytes int) {
	t.Helper()
	profile, err := c.Discovery().RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").Param("debug", "1").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const line = "\n# HeapAlloc = "
	_, rest, found := strings.Cut(string(profile), line)
	if _, err := fmt.Sscan(rest, &bytes); !found || err != nil {
		t.Fatalf("the profile has no %q: %v", line, err)
	}
	return bytes
}

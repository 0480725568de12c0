package test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

const (
	// resetObjects is how many a killed reset has to change.
	resetObjects = 60
	// resetTime is about how long that takes it.
	resetTime = 40 * time.Millisecond
)

// TestDurable follows a durable cluster through a kill in the middle of a reset, another configuration and a stop: what
// was acknowledged is there. What is dropped from the configuration of its nodes goes, what its user added stays.
func TestDurable(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	config.Durable = true
	config.Nodes = []protocol.Node{{Name: "n", Taints: []string{"old=x:NoSchedule"}, Labels: map[string]string{"old": "x"}}}
	p := start(t, config)
	before := authorityOf(t, p)
	p.reset() // so that the API server has all that is its own
	patch := []byte(`{"metadata":{"labels":{"mine":"x"}}}`)
	if _, err := p.clients().CoreV1().Nodes().Patch(t.Context(), "n", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	makeConfigMap(t, p.clients(), "before-kill")
	push(t, p)
	p.config.Nodes = []protocol.Node{{Name: "n", Labels: map[string]string{"new": "x"}}}
	p, _ = killReset(t, p)
	if _, err := configMap(t, p.clients(), "before-kill"); err != nil {
		t.Errorf("lost by kill: %v", err)
	}
	n, err := p.clients().CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Spec.Taints) > 0 || n.Labels["old"] != "" || n.Labels["new"] != "x" || n.Labels["mine"] != "x" {
		t.Errorf("taints %v, labels %v", n.Spec.Taints, n.Labels)
	}
	pull(t, p)
	makeConfigMap(t, p.clients(), "before-restart")
	t.Run("stop by a late client", func(t *testing.T) { testLateClient(t, p) })

	p = start(t, p.config)
	for _, name := range []string{"before-kill", "before-restart"} {
		if _, err := configMap(t, p.clients(), name); err != nil {
			t.Errorf("lost by stop: %v", err)
		}
	}
	if after := authorityOf(t, p); before != after {
		t.Error("the cluster has a new authority")
	}
}

func authorityOf(t *testing.T, p *program) string {
	t.Helper()
	authority, err := os.ReadFile(filepath.Join(p.config.Dir, "pki", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(authority)
}

// TestKilledResetIsFinished kills a durable cluster at any moment of a reset, again and again. Package rollback kills
// after each commit.
func TestKilledResetIsFinished(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-kills")
	}
	config := newConfig(t)
	config.Durable = true
	p := start(t, config)
	finished := 0
	for range (kills(t) + 1) / 2 {
		p.reset() // so that the API server has all that is its own
		next, done := killReset(t, p)
		if p = next; done {
			finished++
		}
	}
	t.Logf("%d of the killed resets had begun", finished)
}

// killReset kills a durable cluster at any moment of a reset, and starts it again. What the next start serves, and
// resets lead back to, is what was kept, or all that there was before the reset, and nothing between.
func killReset(t *testing.T, p *program) (next *program, finished bool) {
	t.Helper()
	kept, maps := values("kept"), p.clients().CoreV1().ConfigMaps("default")
	write(t, maps, kept)
	p.keep("")
	messed := values("messed")
	for n := range resetObjects / 3 {
		delete(messed, fmt.Sprint("object-", 3*n))
		messed[fmt.Sprint("new-", n)] = "messed"
	}
	write(t, maps, messed)
	p.send(`{"id": 1, "method": "reset"}`)
	pass(rand.N(resetTime)) // when does not matter
	kill(t, p)
	next = start(t, p.config)
	before := stored(t, next)
	if finished = same(before, kept); !finished && !same(before, messed) {
		t.Errorf("between two states: %v", before)
	}
	next.reset()
	if got := stored(t, next); !same(got, before) {
		t.Errorf("a reset leads to %v, the cluster started with %v", got, before)
	}
	return next, finished
}

func same(a, b map[string]string) bool { return maps.Equal(a, b) }

func values(value string) map[string]string {
	all := map[string]string{}
	for n := range resetObjects {
		all[fmt.Sprint("object-", n)] = value
	}
	return all
}

// stored are the objects of the test and what they hold.
func stored(t *testing.T, p *program) map[string]string {
	t.Helper()
	list, err := p.clients().CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{LabelSelector: "reset"})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range list.Items {
		all[m.Name] = m.Data["value"]
	}
	return all
}

// write makes these objects all that there are.
func write(t *testing.T, client corev1client.ConfigMapInterface, values map[string]string) {
	t.Helper()
	one := metav1.ListOptions{LabelSelector: "reset"}
	create(t, "room", func(ctx context.Context) error { return client.DeleteCollection(ctx, metav1.DeleteOptions{}, one) })
	var group sync.WaitGroup
	for name, value := range values {
		group.Go(func() {
			create(t, "ConfigMap", func(ctx context.Context) error {
				m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"reset": ""}}, Data: map[string]string{"value": value}}
				_, err := client.Create(ctx, m, metav1.CreateOptions{})
				return err
			})
		})
	}
	group.Wait()
}

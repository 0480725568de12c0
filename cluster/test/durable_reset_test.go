package test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// resetObjects is how many a killed reset has to change.
	resetObjects = 60
	// resetTime is about how long that takes it.
	resetTime = 40 * time.Millisecond
)

// TestKilledResetIsFinished kills a durable cluster at any moment of a reset. What the next start serves, and resets
// lead back to, is what was kept, or all that there was before the reset, and nothing between. Package rollback kills
// after each commit.
func TestKilledResetIsFinished(t *testing.T) {
	config := newConfig(t)
	config.Durable = true
	p := start(t, config)
	kept := values("kept")
	finished := 0
	for range (kills(t) + 1) / 2 {
		maps := p.clients().CoreV1().ConfigMaps("default")
		p.reset() // so that the API server has all that is its own
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
		p = start(t, config)
		switch got := stored(t, p); {
		case same(got, kept):
			finished++
		case !same(got, messed):
			t.Errorf("between two states: %v", got)
		}
		before := stored(t, p)
		p.reset()
		if got := stored(t, p); !same(got, before) {
			t.Errorf("a reset leads to %v, the cluster started with %v", got, before)
		}
	}
	t.Logf("%d of the killed resets had begun", finished)
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

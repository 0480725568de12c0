package clustertest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestIsolated: clusters in one program share nothing, and go with their tests.
func TestIsolated(t *testing.T) {
	main := usual(t)
	same := "same-" + strings.ToLower(rand.Text())
	var host string
	t.Run("alone", func(t *testing.T) {
		a, b := main.Isolated(t), main.Isolated(t, Controllers(false))
		host = a.Config().Host
		for _, c := range []*Cluster{main, a, b} {
			create(t, c.Client(t), configMap("default", same), widget("default", same))
		}
		var nodes corev1.NodeList
		if err := b.Client(t).List(t.Context(), &nodes); err != nil || len(nodes.Items) > 0 {
			t.Errorf("a cluster without controllers has %d nodes, %v", len(nodes.Items), err)
		}
		if a.WebhookOptions().Port == b.WebhookOptions().Port {
			t.Error("both have one webhook port")
		}
	})
	config := main.Config()
	config.Host = host
	cl, err := client.New(config, client.Options{})
	if err == nil {
		err = cl.List(t.Context(), &corev1.NodeList{})
	}
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("the API server of a finished test answers: %v", err)
	}
}

func TestIsolatedRefusesGates(t *testing.T) {
	_, err := usual(t).IsolatedContext(t.Context(), FeatureGates(map[string]bool{"X": true}))
	if !errors.Is(err, errGates) {
		t.Errorf("feature gates were answered with %v", err)
	}
}

// TestIsolatedGivenUp: a cluster that nobody waits for any more does not stay.
func TestIsolatedGivenUp(t *testing.T) {
	main := usual(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := main.IsolatedContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("IsolatedContext returned %v, want that it was cancelled", err)
	}
	var status struct {
		Logical []struct{ Name string }
	}
	if err := main.conn.Call(t.Context(), "status", nil, &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Logical) > 0 {
		t.Errorf("%v are left", status.Logical)
	}
}

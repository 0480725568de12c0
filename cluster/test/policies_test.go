package test

import (
	"context"
	"strings"
	"sync"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// heard are the warnings that came with answers.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, text)
}

// networkPolicyDrawsWarning, when it is made and when it is changed: it has no effect.
func networkPolicyDrawsWarning(t *testing.T, c clients, ns string) {
	warnings := &heard{}
	config := rest.CopyConfig(c.config)
	config.WarningHandlerWithContext = warnings
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	policies := client.NetworkingV1().NetworkPolicies(ns)
	policy, err := policies.Create(t.Context(), &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "deny"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	policy.Labels = map[string]string{"changed": "yes"}
	if _, err := policies.Update(t.Context(), policy, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := policies.Delete(t.Context(), "deny", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(warnings.all) != 2 || !strings.Contains(warnings.all[0], "does not enforce NetworkPolicies") || warnings.all[1] != warnings.all[0] {
		t.Errorf("warnings %q", warnings.all)
	}
}

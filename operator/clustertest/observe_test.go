package clustertest

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestObserve(t *testing.T) {
	c := usual(t)
	ns := c.Namespace(t)
	o := Observe(c.Client(t))
	key := client.ObjectKey{Namespace: ns, Name: "none"}
	if missing := o.missing([]client.ObjectKey{key}); len(missing) != 1 || missing[0] != ns+"/none" {
		t.Errorf("before: %v", missing)
	}
	go func() { _ = o.Get(t.Context(), key, configMap("", "")) }()
	o.WaitFor(t, key)
}

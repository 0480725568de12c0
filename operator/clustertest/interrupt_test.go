package clustertest

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestInterrupt: an operation of two writes is interrupted at each, before and after it takes effect.
func TestInterrupt(t *testing.T) {
	c := audited(t)
	a := c.Account(t, rolesFile(t))
	cl, admin := a.Client(t), c.Client(t)
	seen := map[string]bool{} // what was there after the first failure
	calls := 0
	a.Interrupt(t, func(t *testing.T) {
		calls++
		ns := c.Namespace(t)
		for _, name := range []string{"first", "second"} {
			err := cl.Create(t.Context(), configMap(ns, name))
			if err == nil {
				continue
			}
			if !errors.Is(err, ErrInterrupted) {
				t.Fatal(err)
			}
			there := admin.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, configMap(ns, name))
			if client.IgnoreNotFound(there) != nil {
				t.Fatal(there)
			}
			seen[name] = seen[name] || there == nil
			if err := cl.Create(t.Context(), configMap(ns, name)); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
		}
	})
	if calls != 6 || !seen["first"] || !seen["second"] {
		t.Errorf("%d calls; took effect: %v", calls, seen)
	}
	if err := cl.Create(t.Context(), configMap(a.Namespace, "afterwards")); err != nil {
		t.Errorf("after all interruptions: %v", err)
	}
}

package devloop

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// TestLineFor: markers go behind those that are there, or above the comment of Reconcile, but never into it.
func TestLineFor(t *testing.T) {
	c := codebase.Controller{Type: "R"}
	for text, want := range map[string]int{
		"package p\n\n// +kubebuilder:rbac:groups=a\n//+kubebuilder:rbac:groups=b\n\nfunc (r *R) Reconcile() {}\n": 5,
		"package p\n\n// Reconcile does it.\n// And more.\nfunc (r *R) Reconcile() {}\n":                           3,
		"package p\n\nfunc (r *R) Reconcile() {}\n":                                                                3,
		"package p\n\nfunc (r *Other) Reconcile() {}\n":                                                            0,
	} {
		if got := lineFor([]byte(text), c); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestMarker(t *testing.T) {
	for want, p := range map[string]permission{
		`// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get`:                 {"", "pods/log", "get"},
		`// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch`: {"apps", "deployments", "watch"},
	} {
		if got := p.marker(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

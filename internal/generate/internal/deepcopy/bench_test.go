package deepcopy

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

// BenchmarkSource writes the methods of Kubernetes' core API, from packages that
// were parsed before.
func BenchmarkSource(b *testing.B) {
	registry, err := marker.NewRegistry(definitions()...)
	if err != nil {
		b.Fatal(err)
	}
	loader := load.New(load.Config{Dir: "testdata", Registry: registry})
	roots, err := loader.Roots(b.Context(), "k8s.io/api/core/v1")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if content, err := source(roots[0], ""); err != nil || len(content) == 0 {
			b.Fatalf("%d bytes, error %v", len(content), err)
		}
	}
}

package docs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/testlock"
)

// TestDemo runs what `make demo` runs: the README's path, narrated.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-pages")
	}
	testlock.Hold(t, managerPorts)
	r := newReader(t)
	demo, err := filepath.Abs("../examples/demo")
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.bash(demo + ` "$(command -v slipway)"`).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "From init to the first Job:") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestDemoNeedsCluster: a current cluster that does not answer ends the demonstration
// before its first step.
func TestDemoNeedsCluster(t *testing.T) {
	skipWithoutPrograms(t)
	r := newReader(t)
	demo, err := filepath.Abs("../examples/demo")
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.bash("CLUSTER=current KUBECONFIG=missing " + demo + ` "$(command -v slipway)"`).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "cluster does not answer") || strings.Contains(string(out), "1. A project") {
		t.Fatalf("%v\n%s", err, out)
	}
}

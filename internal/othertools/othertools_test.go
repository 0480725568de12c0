package othertools_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/othertools"
)

func TestLookup(t *testing.T) {
	for typed, want := range map[string]string{
		"kind create cluster --name x":        "slipway cluster start",
		"kind create cluster --config=a.yaml": "slipway cluster start --config kind.yaml",
		"kind create cluster --config a.yaml": "slipway cluster start --config kind.yaml",
		"cluster create":                      "slipway cluster start",
		"create cluster":                      "slipway cluster start",
		"cluster load docker-image op:v1":     "slipway image load controller:latest",
		"cluster load image-archive op.tar":   "slipway image load operator.tar",
		"cluster export logs":                 "slipway cluster logs",
		"cluster export kubeconfig":           "slipway cluster kubeconfig",
		"docker build -t op:v1 .":             "slipway image build -t NAME",
		"docker buildx build --platform all":  "slipway image build -t NAME --platform linux/amd64,linux/arm64",
		"docker-build":                        "slipway image build -t operator:v1",
		"make manifests":                      "slipway generate",
		"manifests":                           "slipway generate",
		"type-scaffold --kind Foo":            "slipway type --kind Foo",
		"alpha update":                        "",
	} {
		c, ok := othertools.Lookup(strings.Fields(typed))
		if !ok || c.Ours != want {
			t.Errorf("%s: %q, %t; want %q", typed, c.Ours, ok, want)
		}
	}
	for _, typed := range []string{"", "nonsense", "cluster", "image lst", "--help", "kind"} {
		if c, ok := othertools.Lookup(strings.Fields(typed)); ok {
			t.Errorf("%s is taken for %s %s", typed, c.Tool, c.Theirs)
		}
	}
}

// TestCommands: each entry says what to do, and no two mean the same words.
func TestCommands(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range othertools.Commands() {
		name := strings.TrimSpace(c.Tool + " " + c.Theirs)
		if c.Tool == "" || c.Ours == "" && c.Note == "" {
			t.Errorf("%q says nothing", name)
		}
		if seen[name] {
			t.Errorf("%q occurs twice", name)
		}
		seen[name] = true
	}
}

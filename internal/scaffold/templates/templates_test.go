package templates_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

func TestRender(t *testing.T) {
	if got, err := templates.Render("init/hack/boilerplate.go.txt", map[string]string{"License": "// mine"}); err != nil || string(got) != "// mine\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := templates.Render("init/hack/boilerplate.go.txt", map[string]string{}); err == nil {
		t.Errorf("a value that is missing gives %q", got)
	}
	if _, err := templates.Render("no/such", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a template that does not exist gives %v", err)
	}
}

// TestBelow: a tree has the paths that the scaffolded project has, hidden files included.
func TestBelow(t *testing.T) {
	names, err := templates.Below("init")
	if err != nil || !slices.Contains(names, "cmd/main.go") || !slices.Contains(names, "Makefile") {
		t.Errorf("got %v, %v", names, err)
	}
	if _, err := templates.Below("no/such"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a tree that does not exist gives %v", err)
	}
}

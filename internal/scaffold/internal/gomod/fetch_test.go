package gomod_test

import (
	"context"
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
)

// offline has the go command refuse to download anything.
func offline(t *testing.T) {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
}

func TestFetch(t *testing.T) {
	offline(t)
	var steps []report.Event
	handler := report.HandlerFunc(func(e report.Event) { steps = append(steps, e) })
	whole := folder(t, "-- go.mod --\nmodule example.com/op\n\ngo 1.24\n-- p/p.go --\npackage p\n\nimport _ \"errors\"\n")
	if err := gomod.Fetch(t.Context(), whole, handler); err != nil || len(steps) != 1 {
		t.Errorf("modules that are there give %v, and %v", err, steps)
	}
	lacking := folder(t, "-- go.mod --\nmodule example.com/op\n\ngo 1.24\n-- p/p.go --\npackage p\n\nimport _ \"example.org/nowhere/x\"\n")
	if refusal, ok := errors.AsType[*report.Error](gomod.Fetch(t.Context(), lacking, report.Discard)); !ok || refusal.Where != "go.mod" || refusal.Next != "go mod tidy" {
		t.Errorf("a module that cannot be fetched gives %+v", refusal)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := gomod.Fetch(ended, whole, report.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("an end that comes first gives %v", err)
	}
}

func TestGet(t *testing.T) {
	offline(t)
	const pkg = "example.org/nowhere/x"
	has := folder(t, "-- go.mod --\nmodule example.com/op\n\ngo 1.24\n\nrequire example.org/nowhere v1.0.0\n")
	for module, fetched := range map[string]bool{"example.org/nowhere": true, "example.org/nowhere@v1.0.0": true, "example.org/nowhere@v1.0.1": false} {
		err := gomod.Get(t.Context(), has, pkg, module, report.Discard)
		refusal, refused := errors.AsType[*report.Error](err)
		if fetched != (err == nil) || refused == fetched {
			t.Errorf("%s: got %v", module, err)
		}
		if refused && (refusal.Where != "--external-api-module "+module || refusal.ExitCode() != 1) {
			t.Errorf("%s: got %+v", module, refusal)
		}
	}
}

func TestCheckGo(t *testing.T) {
	if err := gomod.CheckGo(t.Context(), t.TempDir()); err != nil {
		t.Errorf("the Go that compiled this is refused: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if refusal, ok := errors.AsType[*report.Error](gomod.CheckGo(t.Context(), t.TempDir())); !ok || refusal.What != "the go command is not on PATH" {
		t.Errorf("without a go command: %+v", refusal)
	}
}

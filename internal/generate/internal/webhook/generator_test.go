package webhook

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// generate runs the generator on packages of testdata.
func generate(t *testing.T, options Options, packages ...string) ([]generator.File, []report.Finding) {
	t.Helper()
	registry, err := marker.NewRegistry(Generator().Markers...)
	if err != nil {
		t.Fatal(err)
	}
	loader := load.New(load.Config{Dir: "testdata", Registry: registry})
	var patterns []string
	for _, p := range packages {
		patterns = append(patterns, "./"+p)
	}
	roots, err := loader.Roots(t.Context(), patterns...)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	pass := &generator.Pass{Roots: roots, Loader: loader, Dir: dir}
	if err := run(t.Context(), pass, options); err != nil {
		t.Fatal(err)
	}
	return pass.Files(), loader.Findings()
}

// TestGolden: the golden files are controller-gen's output, which the
// differential test in bench makes sure of.
func TestGolden(t *testing.T) {
	for _, name := range []string{"manager", "named"} {
		t.Run(name, func(t *testing.T) {
			files, findings := generate(t, Options{}, name)
			if len(findings) > 0 || len(files) != 1 || files[0].Name != "manifests.yaml" {
				t.Fatalf("got %d files, findings %v", len(files), findings)
			}
			checkGolden(t, filepath.Join("testdata", name, "manifests.yaml"), files[0].Content)
		})
	}
}

// checkGolden compares with a golden file, or rewrites it.
func checkGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestHeader(t *testing.T) {
	files, _ := generate(t, Options{HeaderFile: "header.txt", Year: "2026"}, "named")
	const want = "# Copyright 2026 The Authors.\n---\napiVersion"
	if len(files) != 1 || !strings.HasPrefix(string(files[0].Content), want) {
		t.Errorf("got %v, want a file that begins with %q", files, want)
	}
}

// TestPackagesShareTheObjects: the webhooks of all packages are in one object of
// each sort; the name comes from whichever package gives one.
func TestPackagesShareTheObjects(t *testing.T) {
	files, findings := generate(t, Options{}, "manager", "named")
	if len(files) != 1 || len(findings) > 0 {
		t.Fatalf("got files %v, findings %v", files, findings)
	}
	text := string(files[0].Content)
	for _, part := range []string{"name: defaults", "name: checks", "name: mx.example.com", "name: 10.example.com"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if n := strings.Count(text, "---\n"); n != 2 {
		t.Errorf("got %d documents, want 2", n)
	}
}

func TestNoWebhooksNoFile(t *testing.T) {
	files, findings := generate(t, Options{}, "none")
	if len(files)+len(findings) > 0 {
		t.Errorf("got files %v, findings %v", files, findings)
	}
}

// TestVersions: webhooks for two versions of a resource are reported, unless no object is one of both.
func TestVersions(t *testing.T) {
	_, findings := generate(t, Options{}, "versions")
	checkGolden(t, filepath.Join("testdata", "versions", "findings.txt"), []byte(text(findings)))
}

// TestMistakesAreFindings: each is told, with its place and what to do.
func TestMistakesAreFindings(t *testing.T) {
	_, findings := generate(t, Options{}, "mistakes")
	checkGolden(t, filepath.Join("testdata", "mistakes", "findings.txt"), []byte(text(findings)))
}

// text is what findings say, with their places.
func text(findings []report.Finding) string {
	var text strings.Builder
	for _, f := range findings {
		severity := "warning"
		if f.Fatal {
			severity = "error"
		}
		fmt.Fprintf(&text, "%d:%d: %s: %s (%s)\n", f.Line, f.Column, severity, f.Message, f.Suggestion)
	}
	return filepath.ToSlash(text.String())
}

func FuzzPatch(f *testing.F) {
	for _, patch := range []string{`{"timeoutSeconds":5}`, `{"matchConditions":[{"$patch":"replace"}]}`, `{"$retainKeys":["name"]}`, `{"rules":[null]}`, `{"$setElementOrder/matchConditions":[{"name":1}]}`} {
		f.Add(patch, true)
	}
	w, _ := declaration{Name: "a.b.c", Path: "/x", SideEffects: "None", AdmissionReviewVersions: []string{"v1"}}.webhook()
	f.Fuzz(func(t *testing.T, patch string, mutating bool) {
		once, err := patched(w, patch, mutating)
		if err != nil {
			return
		}
		again, err := patched(w, patch, mutating)
		if diff := cmp.Diff(once, again); err != nil || diff != "" {
			t.Errorf("another result the second time (%v):\n%s", err, diff)
		}
	})
}

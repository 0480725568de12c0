package rbac

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// generate runs the generator on packages of testdata.
func generate(t *testing.T, options Options, packages ...string) ([]generator.File, []report.Finding, error) {
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
	pass := &generator.Pass{Roots: roots, Loader: loader, Dir: "testdata"}
	err = run(t.Context(), pass, options)
	return pass.Files(), loader.Findings(), err
}

// TestGolden: the golden files are controller-gen's output, which the
// differential test in bench makes sure of.
func TestGolden(t *testing.T) {
	for _, name := range []string{"manager", "namespaces"} {
		t.Run(name, func(t *testing.T) {
			files, findings, err := generate(t, Options{RoleName: "manager-role"}, name)
			if err != nil || len(findings) > 0 || len(files) != 1 || files[0].Name != "role.yaml" {
				t.Fatalf("got %d files, findings %v, error %v", len(files), findings, err)
			}
			golden := filepath.Join("testdata", name, "role.yaml")
			if *update {
				if err := os.WriteFile(golden, files[0].Content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(files[0].Content)); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func TestFileAndHeader(t *testing.T) {
	options := Options{RoleName: "r", FileName: "permissions.yaml", HeaderFile: "header.txt", Year: "2026"}
	files, _, err := generate(t, options, "namespaces")
	if err != nil || len(files) != 1 || files[0].Name != "permissions.yaml" {
		t.Fatalf("got files %v, error %v", files, err)
	}
	const want = "# Copyright 2026 The Authors.\n---\napiVersion"
	if got := string(files[0].Content[:len(want)]); got != want {
		t.Errorf("the file begins with %q, want %q", got, want)
	}
}

func TestNoMarkersNoFile(t *testing.T) {
	files, findings, err := generate(t, Options{RoleName: "r"}, "none")
	if err != nil || len(files)+len(findings) > 0 {
		t.Errorf("got files %v, findings %v, error %v", files, findings, err)
	}
}

func TestMistakesAreFindings(t *testing.T) {
	_, findings, err := generate(t, Options{RoleName: "r"}, "mistakes")
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, f := range findings {
		lines = append(lines, f.Line)
	}
	if want := []int{4, 5, 6}; !slices.Equal(lines, want) {
		t.Errorf("findings in lines %v, want %v: %v", lines, want, findings)
	}
}

func TestRoleWithoutName(t *testing.T) {
	files, findings, err := generate(t, Options{}, "manager")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || len(findings) != 1 || findings[0].Fatal {
		t.Errorf("got %v and %v, want a file and a warning", files, findings)
	}
}

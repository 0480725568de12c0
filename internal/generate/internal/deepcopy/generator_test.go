package deepcopy

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"os"
	"os/exec"
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

// inputs are the packages in testdata that have a golden file: what the
// generator writes beside their types. The differential test in bench compares
// the same files with controller-gen's output, but for those of instances.
var inputs = append(compiling, "quirks")

var compiling = []string{"basic", "named", "foreign/v1", "manual", "object", "legacy", "generic", "instances"}

// generate runs the generator on packages of testdata.
func generate(t *testing.T, options Options, packages ...string) ([]generator.File, *load.Loader) {
	t.Helper()
	registry, err := marker.NewRegistry(definitions()...)
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
	if err := run(t.Context(), pass, options); err != nil {
		t.Fatal(err)
	}
	return pass.Files(), loader
}

func TestGolden(t *testing.T) {
	for _, name := range inputs {
		t.Run(name, func(t *testing.T) {
			files, loader := generate(t, Options{HeaderFile: "header.txt", Year: "2026"}, name)
			if findings := loader.Findings(); len(findings) > 0 {
				t.Fatalf("unexpected findings: %v", findings)
			}
			if len(files) != 1 || files[0].Name != fileName {
				t.Fatalf("got %d files, want one called %s", len(files), fileName)
			}
			compareGolden(t, filepath.Join("testdata", name, fileName), files[0].Content)
		})
	}
}

func compareGolden(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", golden, diff)
	}
}

// TestFormatted: methods are written as gofmt would, without running it.
func TestFormatted(t *testing.T) {
	files, _ := generate(t, Options{}, inputs...)
	for _, f := range files {
		formatted, err := format.Source(f.Content)
		if err != nil {
			t.Fatalf("%s: %v", f.Package.Path, err)
		}
		if diff := cmp.Diff(string(formatted), string(f.Content)); diff != "" {
			t.Errorf("%s is not formatted (-gofmt +got):\n%s", f.Package.Path, diff)
		}
	}
}

// TestDeterministic: neither the order of packages nor concurrency shows.
func TestDeterministic(t *testing.T) {
	first, _ := generate(t, Options{}, inputs...)
	for range 10 {
		again, _ := generate(t, Options{}, inputs...)
		for i := range first {
			if string(first[i].Content) != string(again[i].Content) {
				t.Fatalf("%s: two runs differ", first[i].Package.Path)
			}
		}
	}
}

// TestSyntaxIsEnough: only instances of generic types need a type check.
func TestSyntaxIsEnough(t *testing.T) {
	for _, name := range []string{"basic", "named", "foreign/v1", "manual", "object", "legacy"} {
		_, loader := generate(t, Options{}, name)
		if checked := loader.Checked(); checked > 0 {
			t.Errorf("%s: %d packages were type-checked", name, checked)
		}
	}
}

// TestCompiles builds the golden files with the types they belong to.
func TestCompiles(t *testing.T) {
	args := []string{"build"}
	for _, name := range compiling {
		args = append(args, "./testdata/"+name)
	}
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestNothingToDo(t *testing.T) {
	files, loader := generate(t, Options{}, "empty")
	if len(files) > 0 || len(loader.Findings()) > 0 {
		t.Errorf("got files %v, findings %v", files, loader.Findings())
	}
}

// TestFindings compares findings with the comments `// want "message"`.
func TestFindings(t *testing.T) {
	files, loader := generate(t, Options{}, "refused")
	if len(files) > 0 {
		t.Error("a package with findings was generated")
	}
	var got []string
	for _, f := range loader.Findings() {
		if !f.Fatal || f.Suggestion == "" {
			t.Errorf("%s: finding is not fatal or has no suggestion", f.Position)
		}
		_, message, _ := strings.Cut(f.Message, ": ")
		got = append(got, fmt.Sprintf("%d: %s", f.Line, message))
	}
	if diff := cmp.Diff(wanted(loader), got); diff != "" {
		t.Errorf("findings differ (-want +got):\n%s", diff)
	}
}

// TestMarkersOfUnexportedTypes: they have no methods, and their markers may be wrong all the same.
func TestMarkersOfUnexportedTypes(t *testing.T) {
	_, loader := generate(t, Options{}, "hidden")
	if findings := loader.Findings(); len(findings) != 1 || findings[0].Line != 6 || !findings[0].Fatal {
		t.Errorf("got %v, want one finding in line 6", findings)
	}
}

func wanted(loader *load.Loader) []string {
	var want []string
	roots, _ := loader.Roots(context.Background(), "./refused")
	for _, f := range roots[0].Files() {
		for _, group := range f.Syntax.Comments {
			for _, c := range group.List {
				if _, message, found := strings.Cut(c.Text, `// want "`); found {
					want = append(want, fmt.Sprintf("%d: %s", lineOf(f, c), strings.TrimSuffix(message, `"`)))
				}
			}
		}
	}
	return want
}

func lineOf(f *load.File, c *ast.Comment) int { return f.Position(c.Pos()).Line }

func TestHeaderMustBeComment(t *testing.T) {
	_, err := preamble("p", "not a comment", nil)
	if _, ok := errors.AsType[*report.Error](err); !ok {
		t.Errorf("got %v, want a report.Error", err)
	}
}

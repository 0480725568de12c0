package schemapatch

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
	"github.com/slipway-dev/slipway/internal/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// pass is a pass over the packages that the crd generator is tested with.
func pass(t *testing.T) *generator.Pass {
	t.Helper()
	registry, err := marker.NewRegistry(Generator().Markers...)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	loader := load.New(load.Config{Dir: dir, Registry: registry})
	roots, err := loader.Roots(t.Context(), "../crd/testdata/features/...")
	if err != nil {
		t.Fatal(err)
	}
	return &generator.Pass{Roots: roots, Loader: loader, Dir: dir}
}

// TestGolden: comments and order stay, schemas are new; the differential test in
// bench makes sure that these are controller-gen's bytes.
func TestGolden(t *testing.T) {
	p := pass(t)
	short := 20
	if err := run(t.Context(), p, Options{Manifests: "testdata/manifests", MaxDescLen: &short}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range p.Files() {
		names = append(names, f.Name)
		golden := filepath.Join("testdata", "golden", f.Name)
		if *update {
			if err := os.WriteFile(golden, f.Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(f.Content)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", golden, diff)
		}
	}
	if diff := cmp.Diff([]string{"gadgets.yaml", "hand.yaml", "other.yaml"}, names); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	findings := slices.DeleteFunc(p.Loader.Findings(), func(f report.Finding) bool { return strings.HasSuffix(f.File, ".go") })
	if len(findings) != 1 || findings[0].Fatal || findings[0].Line != 19 || !strings.Contains(findings[0].Message, "v0 lost its schema") {
		t.Errorf("got findings %v, want that v0 lost its schema", findings)
	}
}

// TestNothingIsLeftOut: a node says what the crd generator writes, all of it.
func TestNothingIsLeftOut(t *testing.T) {
	p := pass(t)
	builder := schema.NewBuilder(p.Loader, schema.Options{})
	compared := 0
	for _, k := range crd.Kinds(p) {
		for _, v := range k.Versions {
			if v.Decl == nil {
				continue
			}
			compared++
			s := v.Schema(builder)
			w := yaml.NewWriter()
			s.Write(w, schema.Writing{})
			patched := manifest{document: nodeOf(s, schema.Writing{})}
			text, err := patched.encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, w.Bytes()), decoded(t, text)); diff != "" {
				t.Errorf("%s %s differs (-written +patched):\n%s", k.Name, v.Name, diff)
			}
		}
	}
	if compared < 3 {
		t.Errorf("compared %d kinds only", compared)
	}
}

// decoded is what a reader of YAML 1.2 makes of the text: in controller-gen's patched
// definitions, and so in ours, a property called "yes" has no quotes.
func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := yamlv3.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestMistakesAreFindings: what is no definition as it should be is told with its
// place, and nothing is a panic.
func TestMistakesAreFindings(t *testing.T) {
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
	const names = head + "spec:\n  group: features.example.com\n  names: {kind: Gadget}\n"
	tests := []struct{ name, text, want string }{
		{"old", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n", "cannot be patched"},
		{"two documents", names + "---\na: b\n", "more than one document"},
		{"no name", names + "  versions:\n  - name: v1beta1\n  - served: true\n", "has no name"},
		{"name is a number", names + "  versions:\n  - name: v1beta1\n  - name: 1\n", "has no name"},
		{"null schema", names + "  versions:\n  - name: v1beta1\n    schema: null\n", "not a mapping"},
		{"alias", names + "  versions:\n  - &a {name: v1beta1}\n  - *a\n", "has no name"},
		{"bomb", names + "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a, *a, *a, *a, *a]\n", "expand to too much"},
		{"depth", names + "a: " + strings.Repeat("[", 501) + strings.Repeat("]", 501) + "\n", "nested deeper than 500 levels"},
		{"no such type", names + "  versions:\n  - name: v1beta1\n  - name: v1\n", "the type Gadget is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := pass(t)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := run(t.Context(), p, Options{Manifests: dir}); err != nil {
				t.Fatal(err)
			}
			for _, f := range p.Loader.Findings() {
				if f.Fatal && strings.Contains(f.Message, test.want) && filepath.Base(f.File) == "x.yaml" {
					return
				}
			}
			t.Errorf("got findings %v, want %q", p.Loader.Findings(), test.want)
		})
	}
}

func TestFolderMustExist(t *testing.T) {
	err := run(t.Context(), pass(t), Options{Manifests: "testdata/nowhere"})
	if _, ok := errors.AsType[*report.Error](err); !ok {
		t.Errorf("got %v, want a report.Error", err)
	}
}

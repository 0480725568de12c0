package schema_test

import (
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func loadTypes(t *testing.T) (*load.Loader, *load.Package) {
	t.Helper()
	registry, err := marker.NewRegistry(schema.Definitions()...)
	if err != nil {
		t.Fatal(err)
	}
	loader := load.New(load.Config{Dir: filepath.Join("testdata", "src"), Registry: registry})
	roots, err := loader.Roots(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	return loader, roots[0]
}

func text(s *schema.Schema, options schema.Writing) string {
	w := yaml.NewWriter()
	s.Write(w, options)
	return string(w.Bytes())
}

func TestFlat(t *testing.T) {
	loader, p := loadTypes(t)
	builder := schema.NewBuilder(loader, schema.Options{})
	for _, name := range []string{"Ring", "Twice", "Diamond", "Aliases"} {
		got := text(builder.Flat(p.Decl(name)), schema.Writing{})
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, f := range loader.Findings() {
		if f.Fatal {
			t.Errorf("%v: %s", f.Position, f.Message)
		}
	}
}

// TestFlatIsShared checks that the same type is made once and that several
// goroutines may ask for it.
func TestFlatIsShared(t *testing.T) {
	loader, p := loadTypes(t)
	builder := schema.NewBuilder(loader, schema.Options{})
	results := make([]*schema.Schema, 8)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = builder.Flat(p.Decl("Diamond")) })
	}
	group.Wait()
	before := text(results[0], schema.Writing{})
	for _, d := range p.Decls() {
		builder.Flat(d)
	}
	for _, s := range results {
		if s != results[0] || text(s, schema.Writing{}) != before {
			t.Fatal("the schema of a type is not the same for all")
		}
	}
}

func TestMaxDescription(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"One. Two three.", 100, "One. Two three."},
		{"One. Two three.", 10, "One."},
		{"One two three", 9, "One two..."},
		{"Onetwothree", 4, "Onet..."},
		{"One. Two.", 0, ""},
		{"One. Two.", -1, "One. Two."},
	} {
		s := &schema.Schema{Description: test.text}
		want := "{}\n"
		if test.want != "" {
			want = "description: " + test.want + "\n"
		}
		if got := text(s, schema.Writing{MaxDescription: &test.limit}); got != want {
			t.Errorf("%q to %d: got %q, want %q", test.text, test.limit, got, want)
		}
	}
}

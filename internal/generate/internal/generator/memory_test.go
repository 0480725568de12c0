package generator_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/report"
)

// packages are those of a small module; settled are the folders in which nothing has changed.
func packages(t *testing.T, settled ...string) (p, q *load.Package) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/op\n\ngo 1.24\n", "p/p.go": "package p\n", "q/q.go": "package q\n"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folders := map[string]*load.Facts{}
	for _, name := range settled {
		folders[filepath.Join(dir, name)] = &load.Facts{Dir: filepath.Join(dir, name), Path: "example.com/op/" + name, Name: name, Root: true}
	}
	loader := load.New(load.Config{Dir: dir, Settled: folders})
	roots, err := loader.Roots(t.Context(), "./...")
	if err != nil || len(roots) != 2 {
		t.Fatal(roots, err)
	}
	return roots[0], roots[1]
}

type nowhere struct{}

func (nowhere) Locate(string) report.Position { return report.Position{} }
func (nowhere) Recursion(string) string       { return "" }
func (nowhere) Unbounded(string) []string     { return nil }

// TestUnit: a unit that stands is kept as it is on disk, and is remembered again.
func TestUnit(t *testing.T) {
	p, q := packages(t, "p")
	first := &generator.Pass{}
	made := first.Unit("methods", p)
	if made.Stands() {
		t.Error("what was never made stands")
	}
	made.Code(p, "code.go", []byte("code"))
	made.Traced("config.yaml", []byte("config"), nowhere{})
	made.At("/place.go", []byte("placed"))
	first.Unit("nothing", p)
	first.Unit("methods", p, q).Code(q, "more.go", nil)
	first.Note("seen", "a", "b")

	second := &generator.Pass{Last: first.Memory()}
	again := second.Unit("methods", p)
	if !again.Stands() || !second.Unit("nothing", p).Stands() {
		t.Error("what was made of packages that have not changed does not stand")
	}
	if second.Unit("methods", p, q).Stands() {
		t.Error("what is made of a package that has changed stands")
	}
	if second.Unit("others", p).Stands() {
		t.Error("a unit of another name stands")
	}
	again.Keep()
	got := second.Files()
	if len(got) != 3 || got[0].Package != p || got[0].Name != "code.go" || !got[0].Kept || got[1].Package != nil || got[1].Name != "config.yaml" || !got[1].Kept ||
		got[2].Path != "/place.go" || !got[2].Kept {
		t.Errorf("kept are %+v", got)
	}
	if diff := cmp.Diff([]generator.Remembered{{Package: p.Dir, Name: "code.go"}, {Name: "config.yaml"}, {Path: "/place.go"}}, second.Memory().Units["methods\n"+p.Dir]); diff != "" {
		t.Errorf("remembered: %s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, second.Last.Notes["seen"]); diff != "" || second.Memory().Notes != nil {
		t.Errorf("notes: %s", diff)
	}
}

// TestFiles: files come in the order in which they are added, with what is to become of them.
func TestFiles(t *testing.T) {
	p, _ := packages(t)
	pass := &generator.Pass{}
	pass.Code(p, "a.go", []byte("a"))
	pass.At("/b", []byte("b"))
	pass.Remove("/c")
	files := pass.Files()
	if len(files) != 3 || files[0].Package != p || files[0].Name != "a.go" || files[1].Path != "/b" || files[1].Remove || !files[2].Remove || files[2].Path != "/c" {
		t.Errorf("got %+v", files)
	}
}

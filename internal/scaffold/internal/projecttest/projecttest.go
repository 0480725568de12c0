// Package projecttest makes real projects for the tests of planners.
//
//	root := projecttest.New(t, newproject.Options{})
//	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), options))
//	main := projecttest.Read(t, root, "cmd/main.go")
package projecttest

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// New scaffolds a project in a temporary folder. Defaults: name op, domain example.com, module example.com/op.
func New(t testing.TB, o newproject.Options) (root string) {
	t.Helper()
	root = t.TempDir()
	o.Name, o.Domain, o.Repo = cmp.Or(o.Name, "op"), cmp.Or(o.Domain, "example.com"), cmp.Or(o.Repo, "example.com/op")
	o.License.Year = 2026
	Apply(t)(newproject.Create(fileview.Disk(root), o))
	return root
}

// Apply writes a plan and returns its changes. It fails the test on an error. It skips the transaction of
// [plan.Plan.Apply], whose syncing to disk takes a hundred times as long.
func Apply(t testing.TB) func(*plan.Plan, error) []report.File {
	return func(p *plan.Plan, err error) []report.File {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range p.Changes() {
			if err := write(p, change); err != nil {
				t.Fatal(err)
			}
		}
		return p.Changes()
	}
}

func write(p *plan.Plan, change report.File) error {
	name := filepath.Join(p.Root(), filepath.FromSlash(change.Path))
	switch change.Action {
	case report.Deleted:
		return os.Remove(name)
	case report.Moved:
		if err := os.Remove(filepath.Join(p.Root(), filepath.FromSlash(change.From))); err != nil {
			return err
		}
	case report.Created, report.Updated:
	default:
		return nil
	}
	f, err := p.Find(change.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, f.After(), 0o644)
}

// Unpack writes the files of a txtar archive into the project, over existing ones.
func Unpack(t testing.TB, root, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Read returns a file of the project. It fails the test if the file is missing.
func Read(t testing.TB, root, name string) string {
	t.Helper()
	data, err := safefs.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Holds fails the test for each text that a file lacks. A text that begins with "!" must be missing.
func Holds(t testing.TB, root, name string, texts ...string) {
	t.Helper()
	got := Read(t, root, name)
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		if strings.Contains(got, text) == not {
			t.Errorf("%s: it holds %q: %v", name, text, not)
			t.Log(got)
		}
	}
}

// Paths returns the sorted paths of the changes with an action.
func Paths(files []report.File, action report.Action) []string {
	var paths []string
	for _, f := range files {
		if f.Action == action {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Tree returns the contents of all files of a project, by path.
func Tree(t testing.TB, root string) map[string]string {
	t.Helper()
	tree := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			tree[name] = Read(t, root, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

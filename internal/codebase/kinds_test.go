package codebase_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/project"
)

// unpacked is a folder with files in the form of txtar.
func unpacked(t testing.TB, archive string) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// read is the project in a folder.
func read(root string) *codebase.Codebase {
	return codebase.Read(fileview.Disk(root), func(string) string { return "" })
}

// typesIn is a file with the type of a kind, in a package of a group.
func typesIn(file, version, group, kind string) string {
	return fmt.Sprintf("-- %s --\n// +groupName=%s\npackage %s\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\ntype %s struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n", file, group, version, kind)
}

const opModule = "-- go.mod --\nmodule example.com/op\n\nrequire example.com/op/shared v0.0.0\n"

// opEntry is an entry of PROJECT.
func opEntry(group, version, kind, path string) string {
	return fmt.Sprintf("- api:\n    crdVersion: v1\n  domain: example.com\n  group: %s\n  kind: %s\n  path: %s\n  version: %s\n", group, kind, path, version)
}

// opProject is a PROJECT file with entries.
func opProject(entries string) string {
	return "-- PROJECT --\ndomain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: op\nrepo: example.com/op\nresources:\n" + entries + "version: \"3\"\n"
}

// TestKinds: kinds are those of the project's own code, each with the entry that PROJECT has of it.
func TestKinds(t *testing.T) {
	captain := opEntry("crew", "v1", "Captain", "example.com/op/api/v1")
	for _, test := range []struct {
		name, files string
		want        []string // file:line, group/version kind, entry's group
	}{
		{"none", "", nil},
		{"recorded", opProject(captain) + typesIn("api/v1/a.go", "v1", "crew.example.com", "Captain"), []string{"api/v1/a.go:6 crew.example.com/v1 Captain crew"}},
		{"not recorded", typesIn("api/v1/a.go", "v1", "crew.example.com", "Captain"), []string{"api/v1/a.go:6 crew.example.com/v1 Captain "}},
		{"moved", opProject(captain) + typesIn("apis/crew/v1/a.go", "v1", "ship.org", "Captain"), []string{"apis/crew/v1/a.go:6 ship.org/v1 Captain crew"}},
		{"moved to another version", opProject(captain) + typesIn("apis/crew/v2/a.go", "v2", "ship.org", "Captain"), []string{"apis/crew/v2/a.go:6 ship.org/v2 Captain "}},
		{
			"moved to two places", opProject(captain) + typesIn("a/a.go", "v1", "crew.example.com", "Captain") + typesIn("b/b.go", "v1", "crew.example.com", "Captain"),
			[]string{"a/a.go:6 crew.example.com/v1 Captain ", "b/b.go:6 crew.example.com/v1 Captain "},
		},
		{
			"a namesake", opProject(captain+opEntry("ship", "v1", "Captain", "example.com/op/api/ship/v1")) +
				typesIn("api/v1/a.go", "v1", "crew.example.com", "Captain") + typesIn("api/ship/v1/b.go", "v1", "ship.example.com", "Captain"),
			[]string{"api/ship/v1/b.go:6 ship.example.com/v1 Captain ship", "api/v1/a.go:6 crew.example.com/v1 Captain crew"},
		},
		{"a module that is required", "-- shared/go.mod --\nmodule example.com/op/shared\n" + typesIn("shared/v1/a.go", "v1", "crew.example.com", "Captain"), []string{"shared/v1/a.go:6 crew.example.com/v1 Captain "}},
		{
			"a module that PROJECT names", opProject(opEntry("crew", "v1", "Captain", "example.com/op/api/v1")) + "-- api/go.mod --\nmodule example.com/op/api\n" + typesIn("api/v1/a.go", "v1", "crew.example.com", "Captain"),
			[]string{"api/v1/a.go:6 crew.example.com/v1 Captain crew"},
		},
		{
			"other modules, downloaded ones, tests and folders that go leaves out", "-- examples/go.mod --\nmodule examples\n" + typesIn("examples/v1/a.go", "v1", "crew.example.com", "Captain") +
				"-- broken/go.mod --\nmodule\n" + typesIn("broken/v1/a.go", "v1", "crew.example.com", "Captain") +
				typesIn("vendor/a/a.go", "v1", "crew.example.com", "Captain") + typesIn("gopath/pkg/mod/example.org/a@v1.2.3/v1/a.go", "v1", "crew.example.com", "Captain") +
				typesIn("api/v1/a_test.go", "v1", "crew.example.com", "Captain") + typesIn("api/testdata/a.go", "v1", "crew.example.com", "Captain") +
				typesIn(".cache/v1/a.go", "v1", "crew.example.com", "Captain") + typesIn("_old/v1/a.go", "v1", "crew.example.com", "Captain"), nil,
		},
		{"a PROJECT with a mistake", "-- PROJECT --\nresources: x\n" + typesIn("api/v1/a.go", "v1", "crew.example.com", "Captain"), []string{"api/v1/a.go:6 crew.example.com/v1 Captain "}},
		{"in the project's folder", typesIn("a.go", "v1", "crew.example.com", "Captain"), []string{"a.go:6 crew.example.com/v1 Captain "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			kinds, err := read(unpacked(t, opModule+test.files)).Kinds()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range kinds {
				if k.Entry == nil {
					k.Entry = &project.Resource{}
				}
				got = append(got, fmt.Sprintf("%s %s/%s %s %s", k.Where(), k.Package.Group, k.Package.Version, k.Name, k.Entry.Group))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKindIn: a kind is found by its folder and by its entry, and what is not there has neither.
func TestKindIn(t *testing.T) {
	code := read(unpacked(t, opModule+opProject(opEntry("crew", "v1", "Captain", "example.com/op/api/v1"))+typesIn("api/v1/a.go", "v1", "crew.example.com", "Captain")))
	if k := code.KindIn("api/v1", "Captain"); k == nil || k.File != "api/v1/a.go" || k.Package.Dir != "api/v1" {
		t.Errorf("got %v", k)
	}
	if k := code.KindOf(project.Resource{Group: "crew", Version: "v1", Kind: "Captain"}); k == nil || k.File != "api/v1/a.go" {
		t.Errorf("got %v", k)
	}
	if k := code.KindIn("api/v2", "Captain"); k != nil {
		t.Errorf("got %v", k)
	}
	if k := code.KindOf(project.Resource{Group: "crew", Version: "v2", Kind: "Captain"}); k != nil {
		t.Errorf("got %v", k)
	}
	if p := code.Package("api/v2"); p.Dir != "" {
		t.Errorf("got %v", p)
	}
}

// TestKindsOfNothing: a project's folder that is not there is an error of its facts alone.
func TestKindsOfNothing(t *testing.T) {
	code := read(filepath.Join(t.TempDir(), "none"))
	if _, err := code.Kinds(); err == nil {
		t.Error("a folder that is not there has kinds")
	}
	if _, err := code.GoFiles(); err == nil {
		t.Error("a folder that is not there has files")
	}
}

// BenchmarkKinds reads a project of a hundred kinds.
func BenchmarkKinds(b *testing.B) {
	files := opModule
	for i := range 100 {
		files += typesIn(fmt.Sprintf("api/g%d/v1/types.go", i), "v1", fmt.Sprintf("g%d.example.com", i), "Captain")
		files += fmt.Sprintf("-- internal/controller/c%d.go --\npackage controller\n\nvar x%d = metav1.ObjectMeta{}\n", i, i)
	}
	root := unpacked(b, files)
	for b.Loop() {
		if kinds, err := read(root).Kinds(); err != nil || len(kinds) != 100 {
			b.Fatal(len(kinds), err)
		}
	}
}

// TestImportPath: a folder may be in a module nested in the project's.
func TestImportPath(t *testing.T) {
	code := read(unpacked(t, "-- api/go.mod --\nmodule example.com/types\n"))
	for dir, want := range map[string]string{"internal/x": "example.com/op/internal/x", "api": "example.com/types", "api/v1": "example.com/types/v1"} {
		if got := code.ImportPath("example.com/op", dir); got != want {
			t.Errorf("%s has the path %s, want %s", dir, got, want)
		}
	}
}

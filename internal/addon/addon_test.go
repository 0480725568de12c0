package addon

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// in is an environment whose cache is a folder.
func in(folder string) func(string) string {
	return func(name string) string { return map[string]string{"SLIPWAY_CACHE": folder}[name] }
}

// TestPinned: each module is pinned by its content, in a go.mod that has a version.
func TestPinned(t *testing.T) {
	for _, a := range All() {
		if !semver.IsValid(a.Version()) {
			t.Errorf("%s has the version %q", a.Name, a.Version())
		}
		sums, err := fs.ReadFile(sources, path.Join("_sources", a.Name, "go.sum.txt"))
		if err != nil || !strings.Contains(string(sums), a.module+" "+a.Version()+" h1:") {
			t.Errorf("%s: no sum of %s %s (%v)", a.Name, a.module, a.Version(), err)
		}
	}
}

// TestInstalled: `go install` of a version gets the sources, too. A module's archive leaves out folders with a go.mod.
func TestInstalled(t *testing.T) {
	archive, err := zip.CheckDir(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(sources, "_sources", func(name string, entry fs.DirEntry, err error) error {
		file := filepath.Join("..", "..", "internal", "addon", filepath.FromSlash(name))
		if err == nil && !entry.IsDir() && !slices.Contains(archive.Valid, file) {
			t.Errorf("the archive of the module does not have %s", file)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestImages: the manifests run the images of the programs and no others, and each program has sources.
func TestImages(t *testing.T) {
	image := regexp.MustCompile(`(?m)^\s*(?:- )?image: (\S+)$`)
	for _, a := range All() {
		var run, built []string
		if text, err := fs.ReadFile(sources, path.Join("_sources", a.Name, manifests)); err == nil {
			for _, m := range image.FindAllStringSubmatch(string(text), -1) {
				run = append(run, m[1])
			}
		}
		for _, p := range a.Programs {
			built = append(built, p.Image)
			if _, err := fs.Stat(sources, path.Join("_sources", a.Name, p.Package, "main.go")); err != nil {
				t.Error(err)
			}
		}
		slices.Sort(run)
		slices.Sort(built)
		if !slices.Equal(run, built) {
			t.Errorf("%s runs %q and builds %q", a.Name, run, built)
		}
	}
}

// TestMake: the definitions of each module are those of the groups that are named, of all of them.
func TestMake(t *testing.T) {
	for _, a := range All() {
		made, err := Make(t.Context(), a, in(t.TempDir()), report.Discard)
		if err != nil {
			t.Error(err)
			continue
		}
		var groups []string
		for _, object := range made.Objects {
			if object.GetKind() == "CustomResourceDefinition" {
				group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
				groups = append(groups, group)
			}
			if object.GetName() == "" || object.GetAPIVersion() == "" {
				t.Errorf("%s: an object without a name or a version: %v", a.Name, object)
			}
		}
		slices.Sort(groups)
		want := slices.Sorted(slices.Values(a.Groups))
		if got := slices.Compact(groups); !slices.Equal(got, want) {
			t.Errorf("%s defines kinds of %q, not of %q", a.Name, got, want)
		}
	}
}

// TestOtherContent: a module whose content is not the pinned one is refused.
func TestOtherContent(t *testing.T) {
	a, err := Find("gateway-api")
	if err != nil {
		t.Fatal(err)
	}
	dir, _, err := a.unpack(in(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	sum := filepath.Join(dir, "go.sum")
	text, err := os.ReadFile(sum)
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`(?m)( h1:)..`).ReplaceAll(text, []byte("${1}XX"))
	if err := os.WriteFile(sum, other, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = a.fetch(t.Context(), dir)
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Err == nil || !strings.Contains(e.Err.Error(), "SECURITY ERROR") || e.Where != a.module+"@"+a.Version() {
		t.Errorf("got %v", err)
	}
}

// TestUnpackedAgain: a file of the cache that was changed is made anew, and another content has another folder.
func TestUnpackedAgain(t *testing.T) {
	a, err := Find("cert-manager")
	if err != nil {
		t.Fatal(err)
	}
	getenv := in(t.TempDir())
	dir, id, err := a.unpack(getenv)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "webhook", "main.go")
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("package main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, same, err := a.unpack(getenv)
	if err != nil || again != dir || same != id {
		t.Errorf("unpacked to %s as %s, then to %s as %s (%v)", dir, id, again, same, err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		t.Errorf("the file stays changed (%v)", err)
	}
	files, err := a.files()
	if err != nil {
		t.Fatal(err)
	}
	files["webhook/main.go"] = append(files["webhook/main.go"], '\n')
	if key(files) == id {
		t.Error("other sources have the same key")
	}
}

// TestHostileModule: links out of a module, files that are too large and what is no object are not taken.
func TestHostileModule(t *testing.T) {
	for name, put := range map[string]func(file string) error{
		"link": func(file string) error { return os.Symlink("/etc/passwd", file) },
		"large": func(file string) error {
			return errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, maxFile+1))
		},
		"text":   func(file string) error { return os.WriteFile(file, []byte("- a\n"), 0o600) },
		"none":   func(string) error { return nil },
		"broken": func(file string) error { return os.WriteFile(file, []byte("a: [\n"), 0o600) },
	} {
		module := t.TempDir()
		if err := os.Mkdir(filepath.Join(module, "crds"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := put(filepath.Join(module, "crds", "a.yaml")); err != nil {
			t.Skip(err)
		}
		a := &Addon{Name: "none", definitions: "crds"}
		if objects, err := a.read(module); err == nil {
			t.Errorf("%s: %v", name, objects)
		}
	}
}

func TestFind(t *testing.T) {
	if all := All(); len(all) != len(Names()) || slices.ContainsFunc(all, func(a *Addon) bool { return !slices.Contains(Names(), a.Name) }) {
		t.Errorf("the names are %v, and there are %d add-ons", Names(), len(all))
	}
	for name, hint := range map[string]string{
		"cert-manger": "cert-manager", "certmanager": "cert-manager", "prometheus": "prometheus-crds", "gateway": "gateway-api", "gateways-api": "gateway-api", "x": "", "": "",
	} {
		_, err := Find(name)
		e, ok := errors.AsType[*report.Error](err)
		if !ok || e.ExitCode() != report.UsageCode || e.Next == "" || (hint == "") != (e.Hint == "") || !strings.Contains(e.Hint, hint) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range Names() {
		if a, err := Find(name); err != nil || a.Name != name || ForGroup(a.Groups[0]).Name != name {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	if a := ForGroup("apps"); a != nil {
		t.Errorf("apps is of %s", a.Name)
	}
}

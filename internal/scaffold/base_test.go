package scaffold

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestBaseHoldsWhatWasScaffolded: after edits by the user and an insertion by
// create api, the base has the insertion and not the edits.
func TestBaseHoldsWhatWasScaffolded(t *testing.T) {
	root := newProject(t, Project{})
	main := filepath.Join(root, "cmd", "main.go")
	must(t, os.WriteFile(main, []byte(strings.Replace(read(t, root, "cmd/main.go"), "// run runs", "// run, edited, runs", 1)), 0o644))
	must(t, os.WriteFile(filepath.Join(root, "README.md"), []byte("mine"), 0o644))
	apply(t)(CreateAPI(root, cronJob()))

	base, err := ReadBase(root)
	must(t, err)
	inBase := map[string]string{}
	for path, content := range base.Files() {
		inBase[path] = string(content)
	}
	for _, path := range []string{"PROJECT", "go.mod", "go.sum", BaseFile} {
		if _, ok := inBase[path]; ok {
			t.Errorf("%s has no merge base, and is in the base", path)
		}
	}
	scaffolded := newProject(t, Project{})
	apply(t)(CreateAPI(scaffolded, cronJob()))
	for _, f := range tree(t, scaffolded).Files {
		if want, ok := inBase[f.Name]; ok {
			if diff := cmp.Diff(string(f.Data), want); diff != "" {
				t.Errorf("%s: %s", f.Name, diff)
			}
			delete(inBase, f.Name)
		}
	}
	for path := range maps.Keys(inBase) {
		t.Errorf("the base holds %s, which is not scaffolded", path)
	}
	if got := read(t, root, "cmd/main.go"); !strings.Contains(got, "edited") || !strings.Contains(got, "CronJobReconciler") {
		t.Errorf("main.go lost an edit or the insertion:\n%s", got)
	}
}

func TestBaseBytesAreDeterministic(t *testing.T) {
	var first []byte
	for range 3 {
		base := &Base{files: map[string][]byte{}}
		for _, name := range []string{"b", "a/c", "a", "empty"} {
			base.set(name, []byte(strings.Repeat(name, 100)))
		}
		base.set("empty", nil)
		data, err := base.encode()
		must(t, err)
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Fatal("the same files gave other bytes")
		}
	}
	files, err := decodeBase(first)
	must(t, err)
	if len(files) != 4 || string(files["b"]) != strings.Repeat("b", 100) {
		t.Errorf("read back %d files", len(files))
	}
}

func TestDamagedBase(t *testing.T) {
	root := newProject(t, Project{})
	file := filepath.Join(root, filepath.FromSlash(BaseFile))
	good, err := os.ReadFile(file)
	must(t, err)
	for _, bad := range [][]byte{nil, []byte("text"), good[:len(good)/2], good[:len(good)-4]} {
		must(t, os.WriteFile(file, bad, 0o644))
		var refusal *report.Error
		if _, err := ReadBase(root); !errors.As(err, &refusal) || refusal.Where != BaseFile {
			t.Errorf("%d bytes: got %v", len(bad), err)
		}
	}
}

func FuzzDecodeBase(f *testing.F) {
	base := &Base{files: map[string][]byte{"a": []byte("b")}}
	data, err := base.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := decodeBase(data)
		if err != nil {
			return
		}
		for name := range files {
			if !filepath.IsLocal(name) {
				t.Errorf("file %q lies outside", name)
			}
		}
	})
}

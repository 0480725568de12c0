package modulekinds

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// searched is a folder with what the search of internal/dependency has to find too.
var searched = filepath.FromSlash("testdata/search")

// TestPlaces: which file of a module counts, and which are not read.
func TestPlaces(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(searched, "places.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, left := strings.CutPrefix(lines.Text(), "! ")
		if entered(name) == left {
			t.Errorf("%s: read is %v", name, !left)
		}
		if !left {
			want = append(want, name)
		}
	}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortStableFunc(got, compare)
	if !slices.Equal(got, want) {
		t.Errorf("the order is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// entered reports whether the search goes into all folders of a file.
func entered(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if errors.Is(enter(dir), fs.SkipDir) {
			return false
		}
	}
	return true
}

// TestDefinitionsIn: what is taken from files.
func TestDefinitionsIn(t *testing.T) {
	for _, name := range []string{"definitions", "aliases"} {
		t.Run(name, func(t *testing.T) { compareDefinitions(t, filepath.Join(searched, name)) })
	}
}

// compareDefinitions compares what is taken from path.yaml with path.json.
func compareDefinitions(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	expected, err := os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(expected, &want); err != nil {
		t.Fatal(err)
	}
	made, err := json.Marshal(definitionsIn(text))
	if err == nil {
		err = json.Unmarshal(made, &got)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %s, %v", made, err)
	}
}

// TestReadBounds: a file that is too large is not read, nor any when enough of the module was read.
func TestReadBounds(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"small.yaml": 100, "other.yaml": 100, "large.yaml": maxFile + 1} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte("#"), size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	module := &folder{root, maxRead}
	if _, err := module.read("large.yaml"); !errors.Is(err, errLarge) || module.left != maxRead {
		t.Errorf("a large file: %v, %d bytes left", err, module.left)
	}
	module.left = 150
	if text, err := module.read("small.yaml"); err != nil || len(text) != 100 || module.left != 50 {
		t.Errorf("read %d bytes, %v; %d are left", len(text), err, module.left)
	}
	if _, err := module.read("other.yaml"); !errors.Is(err, errLarge) {
		t.Errorf("the second file: %v", err)
	}
}

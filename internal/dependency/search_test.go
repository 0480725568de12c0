package dependency

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

// searched is a folder with what the search of clustertest has to find too.
var searched = filepath.FromSlash("../../operator/clustertest/internal/modulekinds/testdata/search")

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
	slices.SortStableFunc(got, compareFiles)
	if !slices.Equal(got, want) {
		t.Errorf("the order is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// entered reports whether the search goes into all folders of a file.
func entered(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if errors.Is(enterModule(dir), fs.SkipDir) {
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

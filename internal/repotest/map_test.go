package repotest_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The parts of docs/architecture.md's map that list packages by their folders: the command's own, one a line, and those
// inside of internal/scaffold, some to a line.
var (
	mapped  = regexp.MustCompile(`(?m)^internal/(\w+)/ `)
	planner = regexp.MustCompile(`\w+/`)
)

// scaffolds is the folder of the packages inside of internal/scaffold.
const scaffolds = "internal/scaffold/internal"

// onMapAs matches the part of a folder that the map lists.
var onMapAs = regexp.MustCompile(`^(` + scaffolds + `/\w+|internal/\w+)`)

// TestMap: the map of docs/architecture.md has each first-level package of the command and each of internal/scaffold,
// and only those that are there.
func TestMap(t *testing.T) {
	found := onMap(t)
	for _, f := range readFloors(t) {
		for _, dir := range f.packages {
			if part := onMapAs.FindString(dir); part != "" && !found[part] {
				t.Errorf("the map of docs/architecture.md lacks %s", part)
			}
		}
	}
	for dir := range found {
		if _, err := os.Stat(filepath.Join(root, dir)); err != nil {
			t.Errorf("the map of docs/architecture.md: %v", err)
		}
	}
}

// onMap returns the folders that the map lists.
func onMap(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	text := houseMap(t)
	for _, line := range mapped.FindAllStringSubmatch(text, -1) {
		found["internal/"+line[1]] = true
	}
	_, planners, ok := strings.Cut(text, "\n"+scaffolds+"/\n")
	if !ok {
		t.Fatalf("the map has no line of %s alone", scaffolds)
	}
	for line := range strings.Lines(planners) {
		if !strings.HasPrefix(line, "  ") {
			break
		}
		names, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for _, name := range planner.FindAllString(names, -1) {
			found[path.Join(scaffolds, name)] = true
		}
	}
	return found
}

// houseMap is the text of the map.
func houseMap(t *testing.T) string {
	t.Helper()
	_, rest, begins := strings.Cut(readText(t, "docs/architecture.md"), "\n## The house\n\n```text\n")
	text, _, ends := strings.Cut(rest, "\n```\n")
	if !begins || !ends {
		t.Fatal("docs/architecture.md has no map")
	}
	return text
}

package house_test

import (
	"os"
	"strings"
	"testing"
)

// strangers are pairs of parts that do not know each other although one stands below the other.
var strangers = map[string]string{
	"internal/scaffold":   "internal/generate",
	"internal/clusterctl": "internal/generate",
	"project":             "internal/report",
}

// TestFloors: each package of the modules in floors.txt has a place there, and imports lower ones only.
func TestFloors(t *testing.T) {
	houses := readFloors(t)
	seen := map[string]bool{}
	for _, p := range packages(t) {
		floors, ok := houseOf(houses, p.dir)
		if !ok {
			continue
		}
		seen[p.dir] = true
		from, listed := floors[p.dir]
		if !listed {
			t.Errorf("floors.txt has no place for %s", p.dir)
		}
		for _, imp := range p.imports {
			dir, ours := strings.CutPrefix(imp, module+"/")
			if to, listed := floors[dir]; ours && listed && (to <= from || strange(p.dir, dir)) {
				t.Errorf("%s imports %s, which is not below it", p.dir, dir)
			}
		}
	}
	for _, floors := range houses {
		for dir := range floors {
			if !seen[dir] {
				t.Errorf("floors.txt lists %s, which has no Go files besides tests", dir)
			}
		}
	}
}

// strange reports whether a part, or the one that it is a part of, is not to know another one.
func strange(from, to string) bool {
	for part, other := range strangers {
		if (from == part || strings.HasPrefix(from, part+"/")) && to == other {
			return true
		}
	}
	return false
}

// readFloors returns the floor of each package in floors.txt, by module: the roof is 0.
func readFloors(t *testing.T) map[string]map[string]int {
	t.Helper()
	text, err := os.ReadFile("floors.txt")
	if err != nil {
		t.Fatal(err)
	}
	houses := map[string]map[string]int{}
	for _, house := range strings.Split(string(text), "\n## ")[1:] {
		name, rest, _ := strings.Cut(house, "\n")
		houses[name] = map[string]int{}
		for floor, packages := range strings.Split(rest, "\n\n") {
			for _, dir := range strings.Fields(packages) {
				houses[name][dir] = floor
			}
		}
	}
	return houses
}

// houseOf returns the floors of the module in which a folder lies; modules that floors.txt leaves out have none.
func houseOf(houses map[string]map[string]int, dir string) (map[string]int, bool) {
	first, _, _ := strings.Cut(dir, "/")
	switch first {
	case "examples", "test":
		return nil, false
	}
	if floors, ok := houses[first]; ok {
		return floors, true
	}
	return houses["."], true
}

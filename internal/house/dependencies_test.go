package house_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reasons is the page that says why each module is required.
const reasons = "docs/inside/dependencies.md"

// TestDirectDependenciesAreExplained: the page has a section for each module of ours, which lists what its go.mod
// requires directly and nothing else. Examples are operators: they depend on what scaffolds do.
func TestDirectDependenciesAreExplained(t *testing.T) {
	sections := explained(readText(t, reasons))
	for _, dir := range modules(t) {
		if strings.HasPrefix(dir, "examples/") {
			continue
		}
		var direct []string
		for _, r := range goMod(t, dir).Require {
			if !r.Indirect {
				direct = append(direct, r.Mod.Path)
			}
		}
		compare(t, dir, sections[dir], direct)
		delete(sections, dir)
	}
	for dir := range sections {
		t.Errorf("%s has a section for %s, which is no module", reasons, dir)
	}
}

// compare reports modules that are required and not explained, and the reverse.
func compare(t *testing.T, dir string, explained, direct []string) {
	t.Helper()
	for _, path := range direct {
		if !slices.Contains(explained, path) {
			t.Errorf("%s/go.mod: %s does not say why %s is needed", dir, reasons, path)
		}
	}
	for _, path := range explained {
		if !slices.Contains(direct, path) {
			t.Errorf("%s says why %s is needed, which %s/go.mod does not require directly", reasons, path, dir)
		}
	}
}

// explained returns the paths in the tables' first columns, by the folder in the headings of sections: ## Name
// (`folder`).
func explained(page string) map[string][]string {
	heading := regexp.MustCompile("^## .* \\(`(.+)`\\)$")
	code := regexp.MustCompile("`([^`]+)`")
	paths := map[string][]string{}
	var dir string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if m := heading.FindStringSubmatch(line); m != nil {
			dir = m[1]
			paths[dir] = nil
		}
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
				paths[dir] = append(paths[dir], m[1])
			}
		}
	}
	return paths
}

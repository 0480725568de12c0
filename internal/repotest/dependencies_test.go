package repotest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
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

// scaffolded is the go.mod of a new project.
const scaffolded = "internal/scaffold/templates/go.mod.tmpl"

// TestModulesShareVersions: the modules that are compiled again and again require the same versions of golang.org/x and
// go.yaml.in as a new project. Otherwise Go's build cache has every package twice that imports the other version, such
// as all of Kubernetes' libraries, which import golang.org/x/net. The versions of those libraries are Kubernetes' own.
func TestModulesShareVersions(t *testing.T) {
	f, err := modfile.Parse(scaffolded, []byte(strings.Replace(readText(t, scaffolded), "{{.Repo}}", "example.com/project", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, r := range f.Require {
		if strings.HasPrefix(r.Mod.Path, "golang.org/x/") || strings.HasPrefix(r.Mod.Path, "go.yaml.in/") {
			want[r.Mod.Path] = r.Mod.Version
		}
	}
	for _, dir := range modules(t) {
		if !slices.Contains([]string{".", "cluster", "operator", "test/cronjob"}, dir) && !strings.HasPrefix(dir, "examples/") {
			continue
		}
		for _, r := range goMod(t, dir).Require {
			if version := want[r.Mod.Path]; version != "" && version != r.Mod.Version && !(dir == "." && r.Mod.Path == newerForCommand) {
				t.Errorf("%s/go.mod requires %s, %s requires %s: raise the older one with go get, then go mod tidy; for a new project go test ./internal/cli -run TestPinnedModules -update",
					dir, r.Mod, scaffolded, version)
			}
		}
	}
}

// newerForCommand is required in a newer version by buildkit, which only the command has. Of its packages the command
// has one of some functions; to raise it elsewhere would have each cluster program compiled anew.
const newerForCommand = "golang.org/x/exp"

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

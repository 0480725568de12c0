package words_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// undrawn are the pages of docs/inside that are no designs.
var undrawn = []string{"docs/inside/add-a-flag.md", "docs/inside/benchmarks.md", "docs/inside/contributing.md", "docs/inside/protocol.md", "docs/inside/release.md", "docs/inside/dependencies.md"}

// TestDesignsHaveADrawing: the map links to each page of docs/inside, and each design draws how data flows.
func TestDesignsHaveADrawing(t *testing.T) {
	index := readText(t, "docs/architecture.md")
	found := 0
	for _, page := range files(t, ".md") {
		name, ok := strings.CutPrefix(page, "docs/inside/")
		if !ok {
			continue
		}
		if !strings.Contains(index, "(inside/"+name+")") {
			t.Errorf("docs/architecture.md does not link to %s", page)
		}
		if slices.Contains(undrawn, page) {
			continue
		}
		found++
		if strings.Count(readText(t, page), "\n```mermaid\n") != 1 {
			t.Errorf("%s does not have one drawing", page)
		}
	}
	if found < 5 {
		t.Errorf("found only %d designs", found)
	}
}

// index is the page that lists all pages.
const index = "docs/README.md"

// sections are the folders of pages, in the order in which readers meet them.
var sections = []string{"start", "guides", "concepts", "reference", "inside"}

// TestEveryPageIsIndexed: each page is in the folder of a section, and the index links to it once.
func TestEveryPageIsIndexed(t *testing.T) {
	text := readText(t, index)
	found := 0
	for _, page := range files(t, ".md") {
		name, ok := strings.CutPrefix(page, "docs/")
		if !ok || page == index || strings.HasPrefix(name, "zh/") {
			continue
		}
		found++
		if links := strings.Count(text, "]("+name+")"); links != 1 {
			t.Errorf("%s has %d links to %s, want 1", index, links, page)
		}
		if section, _, _ := strings.Cut(name, "/"); page != "docs/architecture.md" && !slices.Contains(sections, section) {
			t.Errorf("%s is in none of the folders %q", page, sections)
		}
	}
	if found < 40 {
		t.Errorf("found only %d pages", found)
	}
}

// openings are the forms in which a page's first line after its title says what the reader can do after it.
var openings = regexp.MustCompile(`^(After this page you can|Look up|Use ` + "`slipway" + `)\b`)

// TestPagesSayWhatFor: the first line of each page says what the reader can do after it, in one sentence of at most 25
// words.
func TestPagesSayWhatFor(t *testing.T) {
	for _, page := range files(t, ".md") {
		if !strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "docs/zh/") {
			continue
		}
		_, text, found := strings.Cut("\n"+readText(t, page), "\n# ")
		_, text, _ = strings.Cut(text, "\n")
		first, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n\n")
		if !found || !openings.MatchString(first) {
			t.Errorf("%s does not begin with a title and \"After this page you can …\", \"Look up …\" or \"Use `slipway …` to\": %.60q", page, first)
		}
		sentence, _, _ := strings.Cut(strings.ReplaceAll(first, "\n", " ")+" ", ". ")
		if words := len(strings.Fields(sentence)); words > 25 {
			t.Errorf("%s begins with a sentence of %d words, want at most 25", page, words)
		}
	}
}

// TestLinks: what a page links to is there, in English and in Chinese.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	fenced := regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```|`[^`\n]*`")
	for _, page := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(readText(t, page), ""), -1) {
			if m[1] == "" || strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, path.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// TestUpdatesAreKnown: where a page runs tests with -update, each package named has that flag: go test would refuse it.
func TestUpdatesAreKnown(t *testing.T) {
	command := regexp.MustCompile("go test [^`\n]* -update\\b")
	found := 0
	for _, page := range files(t, ".md") {
		for _, line := range command.FindAllString(readText(t, page), -1) {
			found++
			for _, pkg := range regexp.MustCompile(` \./\S+`).FindAllString(line, -1) {
				if pkg = strings.TrimPrefix(pkg, " ./"); !declaresUpdate(t, pkg) && !declaresUpdate(t, "cluster/"+pkg) {
					t.Errorf("%s: %s has no flag -update: %s", page, pkg, line)
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("found only %d commands", found)
	}
}

// declaresUpdate reports whether the tests of the package in a folder have the flag -update.
func declaresUpdate(t *testing.T, dir string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`(?m)^var update = flag\.Bool\("update",`)
	return slices.ContainsFunc(tests, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && flag.Match(text)
	})
}

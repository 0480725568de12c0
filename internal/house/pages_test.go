package house_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDesignsHaveADrawing: the map links to each page of a design, which draws how data flows.
func TestDesignsHaveADrawing(t *testing.T) {
	index := readText(t, "docs/architecture.md")
	found := 0
	for _, page := range files(t, ".md") {
		name, ok := strings.CutPrefix(page, "docs/design/")
		if !ok {
			continue
		}
		found++
		if !strings.Contains(index, "(design/"+name+")") {
			t.Errorf("docs/architecture.md does not link to %s", page)
		}
		if page != reasons && strings.Count(readText(t, page), "\n```mermaid\n") != 1 {
			t.Errorf("%s does not have one drawing", page)
		}
	}
	if found < 5 {
		t.Errorf("found only %d designs", found)
	}
}

// TestLinks: what a page links to is there.
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

// readText returns the text of a file of the repository.
func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

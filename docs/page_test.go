package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is what the test takes from one Markdown file.
type page struct {
	name   string
	long   string // why make test leaves it out
	start  start
	blocks []block
}

// block is a fenced block: the words after its fence, and its text.
type block struct{ mark, text string }

// start names what a page takes for granted: "project", "cluster".
type start []string

func (s start) has(word string) bool { return slices.Contains(s, word) }

// types reports whether the page has a command that matches.
func (p page) types(command *regexp.Regexp) bool {
	return slices.ContainsFunc(p.blocks, func(b block) bool {
		return strings.HasPrefix(b.mark, "sh") && command.MatchString(b.text)
	})
}

func (p page) runs() bool { return p.types(anyCommand) }

var (
	anyCommand     = regexp.MustCompile(`\S`)
	clusterCommand = regexp.MustCompile(`\b(slipway (cluster|deploy|dev|image load|install|kubectl|run|setup-envtest|test)|make (install|run|test))\b`)
	nodesCommand   = regexp.MustCompile(`\bslipway (cluster start .*--nodes real|image load)\b`)
)

// needsCluster reports whether the page needs the cluster program.
func (p page) needsCluster() bool { return p.start.has("cluster") || p.types(clusterCommand) }

// needsNodes reports whether the page needs the program of real nodes.
func (p page) needsNodes() bool { return p.types(nodesCommand) }

// sharesCluster reports whether the page begins with a cluster that others have had before.
func (p page) sharesCluster() bool { return p.start.has("cluster") && !p.needsNodes() }

// runsManager reports whether a script runs a manager, which has ports that all managers have.
func runsManager(script string) bool {
	return strings.Contains(script, "slipway run") || strings.Contains(script, "slipway dev") || strings.Contains(script, "make run")
}

// file returns the path that a block is to be written to.
func (b block) file() (string, bool) {
	_, path, ok := strings.Cut(b.mark, " file=")
	return path, ok
}

// pages are the paths of all pages here, in the folders of their sections. Those in zh show the same commands as their
// originals: a test in internal/repotest/words compares them.
func pages(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && path == "zh" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// pageName is how a test is called that follows a page: guides/webhooks.
func pageName(path string) string {
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimSuffix(path, ".md")), "../")
}

func readPage(t *testing.T, path string) page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := parsePage(string(text))
	p.name = pageName(path)
	return p
}

func parsePage(text string) page {
	var p page
	var open *block
	for line := range strings.Lines(text) {
		mark, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open == nil:
			open = &block{mark: mark}
		case fence:
			p.blocks, open = append(p.blocks, *open), nil
		case open != nil:
			open.text += line
		default:
			p.comment(strings.TrimSpace(line))
		}
	}
	return p
}

// comment reads what readers of a page do not see.
func (p *page) comment(line string) {
	if words, ok := strings.CutPrefix(line, "<!-- start:"); ok {
		p.start = strings.Fields(strings.TrimSuffix(words, "-->"))
	}
	if reason, ok := strings.CutPrefix(line, "<!-- long:"); ok {
		p.long = strings.TrimSpace(strings.TrimSuffix(reason, "-->"))
	}
	if line == "<!-- Ctrl-C -->" {
		p.blocks = append(p.blocks, block{mark: "Ctrl-C"})
	}
}

func TestParsePage(t *testing.T) {
	p := parsePage("<!-- start: project cluster -->\n<!-- long: others do -->\ntext\n```sh\na\nb\n```\n```go file=x/y.go\npackage y\n```\n<!-- Ctrl-C -->\n```text\nz\n```\n")
	if !slices.Equal(p.start, []string{"project", "cluster"}) || !p.sharesCluster() {
		t.Errorf("start: %q", p.start)
	}
	if p.long != "others do" {
		t.Errorf("long: %q", p.long)
	}
	want := []block{{"sh", "a\nb\n"}, {"go file=x/y.go", "package y\n"}, {"Ctrl-C", ""}, {"text", "z\n"}}
	if !slices.Equal(p.blocks, want) {
		t.Errorf("blocks: %q, want %q", p.blocks, want)
	}
	if file, ok := p.blocks[1].file(); !ok || file != "x/y.go" {
		t.Errorf("file: %q", file)
	}
	if !p.runs() {
		t.Error("a page with a command does not run")
	}
}

func TestPages(t *testing.T) {
	found := pages(t)
	for _, path := range []string{"README.md", "start/quick-start.md", "guides/webhooks.md", "reference/create.md"} {
		if !slices.Contains(found, filepath.FromSlash(path)) {
			t.Errorf("%s is not found", path)
		}
	}
	if slices.ContainsFunc(found, func(path string) bool { return strings.HasPrefix(filepath.ToSlash(path), "zh/") }) {
		t.Errorf("pages in Chinese run their originals' commands once more: %q", found)
	}
	if name := pageName(filepath.FromSlash("guides/webhooks.md")); name != "guides/webhooks" {
		t.Errorf("name: %q", name)
	}
	if name := pageName("../README.md"); name != "README" {
		t.Errorf("name: %q", name)
	}
}

package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source is the folder of the repository, whose files pages quote.
const source = ".."

// TestQuotes: what a page quotes of a file, in a block with the mark from=PATH, is in that file, line by line; a change
// that a page shows of it fits, or was made.
func TestQuotes(t *testing.T) {
	quotes := 0
	for _, path := range pages(t) {
		for _, b := range readPage(t, path).blocks {
			file, ok := b.quoted()
			if !ok {
				continue
			}
			quotes++
			if err := holds(source, file, b.states()...); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if quotes == 0 {
		t.Error("no page quotes a file")
	}
}

// quoted returns the path of the file that a block quotes.
func (b block) quoted() (string, bool) {
	_, path, ok := strings.Cut(b.mark, " from=")
	return path, ok
}

// states returns what a file may have for a quote: the block, or the lines without and with the change that it shows.
func (b block) states() []string {
	if !strings.HasPrefix(b.mark, "diff ") {
		return []string{b.text}
	}
	var before, after strings.Builder
	for line := range strings.Lines(b.text) {
		if line[0] != '+' {
			before.WriteString(line[1:])
		}
		if line[0] != '-' {
			after.WriteString(line[1:])
		}
	}
	return []string{before.String(), after.String()}
}

// holds reports whether whole lines of a file below root are one of the quotes.
func holds(root, file string, quotes ...string) error {
	if !filepath.IsLocal(file) {
		return fmt.Errorf("%q is no path within the repository", file)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return fmt.Errorf("read what is quoted: %w", err)
	}
	for _, quote := range quotes {
		if strings.TrimSpace(quote) != "" && strings.Contains("\n"+string(text), "\n"+quote) {
			return nil
		}
	}
	return fmt.Errorf("%s does not have these lines; quote it anew:\n%s", file, quotes[0])
}

func TestQuotesAreComparedWithTheirFile(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "x.go"), []byte("package x\n\nfunc f() {\n\tg()\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := parsePage("```go from=x.go\nfunc f() {\n\tg()\n}\n```\n").blocks[0]
	file, ok := b.quoted()
	if !ok || file != "x.go" {
		t.Errorf("the block quotes %q, %v, want x.go", file, ok)
	}
	if err := holds(root, file, b.states()...); err != nil {
		t.Errorf("a quote of the file is refused: %v", err)
	}
	for change, fits := range map[string]bool{
		" func f() {\n-\tg()\n+\th()\n }\n": true,
		" func f() {\n-\th()\n+\tg()\n }\n": true, // it was made
		" func f() {\n-\th()\n+\ti()\n }\n": false,
	} {
		if err := holds(root, file, block{"diff from=x.go", change}.states()...); (err == nil) != fits {
			t.Errorf("the change %q fits: %t, %v", change, err == nil, err)
		}
	}
	for quote, why := range map[string]string{
		"func f() {\n\th()\n}\n":   "another line",
		"func f() {\n}\n":          "a line left out",
		"g()\n":                    "a part of a line",
		"func f() {\n    g()\n}\n": "other white space",
		"\n":                       "nothing",
	} {
		if holds(root, file, quote) == nil {
			t.Errorf("a quote with %s is accepted", why)
		}
	}
	for _, file := range []string{"y.go", "../x.go"} {
		if holds(root, file, b.text) == nil {
			t.Errorf("a quote of %s is accepted", file)
		}
	}
}

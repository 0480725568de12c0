// Package prose holds the lines of prose in Go comments and Markdown to a width. It changes where lines break, never
// the words.
//
//	out, err := prose.Reflow("README.md", src) // src with its long paragraphs broken anew
//	long, err := prose.Long("main.go", src)    // the numbers of the lines where such paragraphs begin
//
// Only a paragraph or an item of a list that has a line of more than [Width] columns is broken anew, as a whole. All
// else stays as it is:
//
//   - in Go: generated files, comments after code, /* comments */, directives and markers (//go:build,
//     // +kubebuilder:…), what is indented (examples), headings, the expected output of examples
//   - in Markdown: fenced and indented code, tables, headings, quotations, HTML, definitions of links, lines that end
//     in a break
//   - in both: a line that is one word, and paragraphs with two spaces between words, which are small tables
//
// Text in `backquotes` stays on one line, and no line begins with a word that would make it something else, such as a
// dash or a marker. Reflow is idempotent. A tab is four columns wide.
package prose

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
)

// Width is the number of columns that a line of prose may have.
const Width = 120

// A paragraph is a run of lines that are broken as one: text, or an item of a list.
type paragraph struct {
	first, last int    // indexes of its lines
	head, rest  string // what its first line and the others begin with
	text        []string
	item        bool // of a list
	fixed       bool // its lines have to break where they do
}

// Reflow returns the source of a .go or .md file with its long paragraphs broken anew. Other files come back as they
// are. An error is one of Go's syntax.
func Reflow(path string, src []byte) ([]byte, error) {
	lines, paragraphs, err := parse(path, src)
	if err != nil {
		return nil, err
	}
	var out []string
	next := 0
	for _, p := range paragraphs {
		if broken := p.broken(lines); broken != nil {
			out = append(append(out, lines[next:p.first]...), broken...)
			next = p.last + 1
		}
	}
	return []byte(strings.Join(append(out, lines[next:]...), "\n")), nil
}

// Long returns the numbers of the lines, from 1, at which paragraphs begin that Reflow would change.
func Long(path string, src []byte) ([]int, error) {
	lines, paragraphs, err := parse(path, src)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, p := range paragraphs {
		if p.broken(lines) != nil {
			found = append(found, p.first+1)
		}
	}
	return found, nil
}

// Files returns the .go and .md files in a folder and below, but for test data, vendored code and what begins with a
// dot. It leaves out pages in Chinese, in folders named zh: a line break in such a text shows as a space.
func Files(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "vendor" || name == "node_modules" || name == "zh") {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(name); d.Type().IsRegular() && (ext == ".go" || ext == ".md") {
			found = append(found, path)
		}
		return nil
	})
	return found, err
}

// parse returns a file's lines and its paragraphs, in their order. Files with carriage returns have none.
func parse(path string, src []byte) (lines []string, paragraphs []paragraph, err error) {
	lines = strings.Split(string(src), "\n")
	if bytes.ContainsRune(src, '\r') {
		return lines, nil, nil
	}
	switch filepath.Ext(path) {
	case ".go":
		paragraphs, err = goParagraphs(path, src, lines)
	case ".md":
		paragraphs = markdownParagraphs(lines)
	}
	return lines, paragraphs, err
}

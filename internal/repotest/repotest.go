// Package repotest finds the files of this repository, for tests of its own rules. Those about code are in this folder,
// and `make check` runs them with all other tests. Those about words (messages, pages, translations, lines of prose)
// are in words, and `make lint` runs them.
package repotest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files returns the slash-separated paths, relative to the root, of the repository's files whose names end with suffix.
// It leaves out folders of test data, and those that begin with a dot.
func Files(t testing.TB, root, suffix string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "vendor" || name == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, suffix) {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		found = append(found, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Text returns the text of a file, given by its slash-separated path relative to the root.
func Text(t testing.TB, root, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

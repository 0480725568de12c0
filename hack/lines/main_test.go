package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun: blanks and comments are not code, tests and their data are counted apart, long functions are listed.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	long := "package a\n\nfunc long() {\n" + strings.Repeat("\tlong()\n", longestFunction) + "}\n"
	for name, content := range map[string]string{
		"a/a.go":            "// Package a is one.\npackage a\n\n/* two\nlines */\nvar x = `three\n\nlines` // and a comment\n",
		"a/b/b.go":          long,
		"a/a_test.go":       "package a\n\n",
		"a/testdata/x.txt":  "one\n",
		"a/.hidden/x.go":    "package x\n",
		"a/notes.md":        "no code\n",
		"a/testdata/d/y.go": "package y\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for want, args := range map[string][]string{
		"| a/b | 63 | 0 | 0 |\n| a | 4 | 3 | 4 |\n| **all** | 67 | 3 | 4 |\n": {"a"},
		"| a | 67 | 3 | 4 |\n| **all** | 67 | 3 | 4 |\n":                      {"-depth", "1", "a"},
	} {
		var out bytes.Buffer
		if err := run(args, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "- a/b/b.go:3: long: 62 lines\n") {
			t.Errorf("%q: got\n%s", args, out.String())
		}
	}
}

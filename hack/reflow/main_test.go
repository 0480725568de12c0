package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("word ", 30)
	kept := map[string]string{
		"short.md":       "# Title\n\nshort\n",
		"testdata/in.md": long + "\n",
		".hidden/in.md":  long + "\n",
		"text.txt":       long + "\n",
	}
	for name, text := range kept {
		write(t, filepath.Join(dir, name), text)
	}
	page, code := filepath.Join(dir, "docs", "page.md"), filepath.Join(dir, "code.go")
	write(t, page, long+"\n")
	write(t, code, "package a\n\n// A is a "+long+"\ntype A int\n")

	var out bytes.Buffer
	if err := run([]string{dir}, &out); err != nil {
		t.Fatal(err)
	}
	if want := code + "\n" + page + "\n"; out.String() != want {
		t.Errorf("changed %q, want %q", out.String(), want)
	}
	for name, want := range kept {
		if got := read(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s changed: %q", name, got)
		}
	}
	if got := read(t, page); strings.Count(got, "\n") != 2 {
		t.Errorf("page: %q", got)
	}
	out.Reset()
	if err := run([]string{page, code}, &out); err != nil || out.Len() > 0 {
		t.Errorf("a second run: %v, changed %s", err, out.String())
	}
}

func TestRunReportsMissingFiles(t *testing.T) {
	if err := run([]string{filepath.Join(t.TempDir(), "missing")}, &bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	naming "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/internal/goinstall"
)

// command runs a program and returns what it printed to both.
func command(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// committer makes commits the same, whoever runs the test and when.
func committer() []string {
	return []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-02-03T04:05:06Z", "GIT_COMMITTER_DATE=2026-02-03T04:05:06Z"}
}

// newRepository makes a repository with the modules and the programs of slipway, which are small here.
func newRepository(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files, err := txtar.ParseFile("testdata/repository.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.Files {
		write(t, filepath.Join(dir, f.Name), string(f.Data))
	}
	for _, unit := range goinstall.Units("linux")[1:] {
		for _, path := range unit.Packages {
			folder := strings.TrimPrefix(path, naming.Module+"/")
			write(t, filepath.Join(dir, folder, "main.go"), fmt.Sprintf("package main\n\nfunc main() { println(%q) }\n", folder))
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "one"}} {
		command(t, dir, committer(), append([]string{"git"}, args...)...)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, elements ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// release runs the command for a repository.
func release(t *testing.T, dir string, more ...string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	code = run(t.Context(), append([]string{"-dir", dir, "-version", "v0.1.0"}, more...), &out, &out)
	return code, out.String()
}

// names lists the files of a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		all = append(all, f.Name())
	}
	return all
}

// contents lists the files in an archive, with their modes.
func contents(t *testing.T, path string) []string {
	t.Helper()
	data := read(t, path)
	if strings.HasSuffix(path, ".zip") {
		return zipContents(t, data)
	}
	var r io.Reader = bytes.NewReader(data)
	if !strings.HasSuffix(path, ".tar") {
		zipped, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = zipped
	}
	var all []string
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%o %s", h.Mode, h.Name))
	}
}

func zipContents(t *testing.T, data []byte) (all []string) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		all = append(all, fmt.Sprintf("%o %s", f.Mode(), f.Name))
	}
	return all
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name)
	if *update {
		write(t, path, got)
	}
	if want := string(read(t, path)); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// listing is what a release consists of: its files, and what is in the archives.
func listing(t *testing.T, dist string) (lines []string) {
	t.Helper()
	for _, name := range names(t, dist) {
		lines = append(lines, name)
		if slices.Contains([]string{".gz", ".tgz", ".zip"}, filepath.Ext(name)) {
			for _, inside := range contents(t, filepath.Join(dist, name)) {
				lines = append(lines, "\t"+inside)
			}
		}
	}
	return lines
}

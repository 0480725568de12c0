package web_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/web"
)

var rebuild = flag.Bool("rebuild", false, "build the page with Node and compare")

// mostBytes bounds what a browser loads, compressed.
const mostBytes = 600 << 10

// TestCurrent compares the sums that the build has written with the files. It needs no Node.
func TestCurrent(t *testing.T) {
	const advice = "run make web, and commit web/dist"
	text, err := os.ReadFile("dist/sources.sum")
	if err != nil {
		t.Fatal(err)
	}
	built := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		built[file] = sum
	}
	for _, file := range sources(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(text)); built[file] != sum {
			t.Errorf("%s differs from what web/dist was built from: %s", file, advice)
		}
		delete(built, file)
	}
	for file := range built {
		t.Errorf("%s is gone since web/dist was built: %s", file, advice)
	}
}

// sources are the files that the build reads and writes.
func sources(t *testing.T) []string {
	t.Helper()
	files := []string{".npmrc", "build.mjs", "package-lock.json", "package.json", "tsconfig.json"}
	for _, folder := range []string{"dist", "src"} {
		err := fs.WalkDir(os.DirFS("."), folder, func(file string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && file != "dist/sources.sum" {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// namespaces are names of XML that look like addresses.
var namespaces = regexp.MustCompile(`http://www\.w3\.org/(1998/Math/MathML|1999/xhtml|1999/xlink|2000/svg|2000/xmlns/|XML/1998/namespace)`)

// TestLoadsNothingElse: the page is small, and its files name no address but those of XML.
func TestLoadsNothingElse(t *testing.T) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	for _, name := range []string{"index.html", "page.js", "page.css"} {
		text, err := fs.ReadFile(web.Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		rest := namespaces.ReplaceAllString(string(text), "")
		for _, unwanted := range []string{"http://", "https://", "@import", "sourceMappingURL", "eval(", "new Function"} {
			if strings.Contains(rest, unwanted) {
				t.Errorf("%s has %q", name, unwanted)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes compressed", compressed.Len())
	if compressed.Len() > mostBytes {
		t.Errorf("the page has %d bytes compressed, and may have %d", compressed.Len(), mostBytes)
	}
}

// TestRebuild builds the page anew in a copy, compares the bytes, and runs the tests of the TypeScript.
// `make test-long-web` runs it.
func TestRebuild(t *testing.T) {
	if !*rebuild {
		t.Skip("it needs Node: make test-long-web")
	}
	dir := t.TempDir()
	tests, err := filepath.Glob("test/*")
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, file := range append(sources(t), tests...) {
		if strings.HasPrefix(file, "dist/") {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"ci"}, {"run", "build"}, {"test"}} {
		cmd := exec.CommandContext(t.Context(), "npm", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for _, name := range []string{"index.html", "page.js", "page.css", "licenses.txt", "sources.sum"} {
		committed, err := os.ReadFile(filepath.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		built, err := os.ReadFile(filepath.Join(dir, "dist", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, built) {
			t.Errorf("a new build writes another dist/%s", name)
		}
	}
}

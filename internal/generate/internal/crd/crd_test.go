package crd_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// oracle is the version whose output the golden files are.
const oracle = "v0.23.0"

// run generates for packages below this folder.
func run(t testing.TB, options string, patterns ...string) (*generator.Pass, error) {
	t.Helper()
	g := crd.Generator()
	registry, err := marker.NewRegistry(g.Markers...)
	if err != nil {
		t.Fatal(err)
	}
	loader := load.New(load.Config{Registry: registry})
	roots, err := loader.Roots(t.Context(), patterns...)
	if err != nil {
		t.Fatal(err)
	}
	value, problem := marker.ParseOption(g.Options, options)
	if problem != nil {
		t.Fatal(problem)
	}
	pass := &generator.Pass{Roots: roots, Loader: loader, ToolVersion: oracle}
	return pass, g.Run(t.Context(), pass, value)
}

// TestGolden compares with what controller-gen writes, byte for byte. What is
// already known about Kubernetes' types must not need go/types.
func TestGolden(t *testing.T) {
	for name, test := range map[string]struct {
		options string
		path    string
	}{
		"features": {"", "./testdata/features/..."},
		"options":  {"maxDescLen=20,generateEmbeddedObjectMeta=true,headerFile=testdata/header.txt,year=2031,deprecatedV1beta1CompatibilityPreserveUnknownFields=false", "./testdata/features/..."},
		"cronjob":  {"maxDescLen=0", "./testdata/cronjob"},
	} {
		t.Run(name, func(t *testing.T) {
			pass, err := run(t, test.options, test.path)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range pass.Loader.Findings() {
				if f.Fatal { // the code has doubtful places, which the oracle accepts
					t.Errorf("%v: %s", f.Position, f.Message)
				}
			}
			if n := pass.Loader.Checked(); n != 0 {
				t.Errorf("%d packages were type-checked, want none", n)
			}
			compareGolden(t, filepath.Join("testdata", "golden", name), pass.Files())
		})
	}
}

func compareGolden(t *testing.T, dir string, files []generator.File) {
	t.Helper()
	seen := make(map[string]bool)
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		seen[path] = true
		if *update {
			writeGolden(t, path, f.Content)
		}
		if diff := cmp.Diff(readGolden(t, path), string(f.Content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
	golden, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range golden {
		if !seen[strings.TrimSuffix(path, ".gz")] {
			t.Errorf("%s was not generated", path)
		}
	}
}

// readGolden reads a golden file; a large one may be compressed.
func readGolden(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		return string(data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeGolden(t *testing.T, path string, content []byte) {
	t.Helper()
	if _, err := os.Stat(path + ".gz"); err == nil {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		path, content = path+".gz", b.Bytes()
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFindings reads the expectations beside the code: a comment // want "text"
// names a finding on the next line.
func TestFindings(t *testing.T) {
	for folder, fatal := range map[string]bool{"mistakes": true, "doubts": false} {
		t.Run(folder, func(t *testing.T) { wantFindings(t, "./testdata/"+folder+"/...", fatal) })
	}
}

// wantFindings checks that each line after a "want" has the finding that it says, and no other line has one.
func wantFindings(t *testing.T, path string, fatal bool) {
	pass, err := run(t, "", path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range pass.Loader.Findings() {
		if f.Fatal != fatal {
			t.Errorf("fatal %t: %s", f.Fatal, f.Message)
		}
		got = append(got, f.Message)
		if want := wantedAt(t, f.File, f.Line-1); want == "" || !strings.Contains(f.Message, want) {
			t.Errorf("%v: unexpected: %s", f.Position, f.Message)
		}
	}
	wanted := 0
	for _, root := range pass.Roots {
		for _, f := range root.GoFiles() {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			wanted += strings.Count(string(data), "// want ")
		}
	}
	if wanted != len(got) {
		t.Errorf("%d findings, want %d: %q", len(got), wanted, got)
	}
}

func wantedAt(t *testing.T, path string, line int) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if line < 1 {
		return ""
	}
	_, want, _ := strings.Cut(lines[line-1], "// want ")
	return want
}

func TestBadVersion(t *testing.T) {
	if _, err := run(t, "crdVersions=v1beta1", "./testdata/features/v1beta1"); err == nil {
		t.Error("v1beta1 was accepted")
	}
}

func BenchmarkCronJob(b *testing.B) {
	for b.Loop() {
		if _, err := run(b, "", "./testdata/cronjob"); err != nil {
			b.Fatal(err)
		}
	}
}

package generate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/generate/edition"
)

// TestEditions: in each version, small packages have the files that this version of controller-gen makes of them, or
// are refused. The golden files come from the programs themselves: make test-long-versions compares them, and rewrites
// them with -update.
func TestEditions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "editions", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	shown := make(map[string]bool)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		made := madeIn(archive)
		for version := range made {
			shown[version] = true
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			checkEditions(t, archive, made)
		})
	}
	for _, version := range edition.Patches() {
		if !shown[version] {
			t.Errorf("no package shows what %s changes", version)
		}
	}
}

// madeIn are the files that each version makes which makes other ones than the version before it.
func madeIn(archive *txtar.Archive) map[string]map[string]string {
	made := make(map[string]map[string]string)
	for _, f := range archive.Files {
		version, name, _ := strings.Cut(f.Name, "/")
		if !semver.IsValid(version) {
			continue
		}
		if made[version] == nil {
			made[version] = make(map[string]string)
		}
		made[version][name] = string(f.Data)
	}
	return made
}

func checkEditions(t *testing.T, archive *txtar.Archive, made map[string]map[string]string) {
	dir := project(t)
	for _, sub := range []string{"api", "internal"} {
		if err := os.RemoveAll(filepath.Join(dir, sub)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range archive.Files {
		if version, _, _ := strings.Cut(f.Name, "/"); !semver.IsValid(version) {
			write(t, dir, f.Name, string(f.Data))
		}
	}
	lines := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
	arguments := append(strings.Fields(lines[len(lines)-1]), "output:dir=out")
	if !strings.Contains(lines[len(lines)-1], "paths=") {
		arguments = append(arguments, "paths=./...")
	}
	var want map[string]string
	since := ""
	for _, version := range edition.Patches() {
		if made[version] != nil {
			want, since = made[version], version
		}
		stamped := make(map[string]string)
		for name, content := range want {
			stamped[name] = strings.ReplaceAll(content, "version: "+since+"\n", "version: "+version+"\n")
		}
		if diff := cmp.Diff(stamped, generated(t, dir, version, arguments)); diff != "" {
			t.Errorf("%s (-controller-gen +slipway):\n%s", version, diff)
		}
	}
}

// generated are the files that a version makes, as the golden files have them.
func generated(t *testing.T, dir, version string, arguments []string) map[string]string {
	t.Helper()
	options, err := generate.Parse(arguments)
	if err != nil {
		t.Fatal(err)
	}
	options.Dir, options.Version, options.Lenient, options.DryRun = dir, version, true, true
	result, err := generate.Run(t.Context(), options)
	if err != nil || result.Failed() {
		return map[string]string{"refused": ""}
	}
	files := make(map[string]string)
	for _, f := range result.Files {
		rel, err := filepath.Rel(filepath.Join(dir, "out"), f.Path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(rel)] = string(f.Content)
	}
	if len(files) == 0 {
		return map[string]string{"nothing": ""}
	}
	return files
}

// TestAliasesWithoutEnd: aliases that lead back to themselves, or through too many others, end in each version, with a
// finding or without.
func TestAliasesWithoutEnd(t *testing.T) {
	var chain strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&chain, "type A%d = A%d\n", i, i+1)
	}
	for name, types := range map[string]string{
		"itself":     "type A = A\n",
		"each other": "type A = B\ntype B = A\n",
		"list":       "type A = []A\n",
		"map":        "type A = map[string]B\ntype B = *A\n",
		"field":      "type A = struct{ F *A }\n",
		"chain":      "type A = A0\n" + chain.String() + "type A3000 string\n",
	} {
		for _, version := range []string{"v0.14.0", "v0.16.5", "v0.17.0", "v0.17.1", generate.Newest} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				dir := project(t)
				write(t, dir, "api/v1/types.go", apiHead+kind("\tF A `json:\"f\"`")+types)
				o := options(dir)
				o.Version = version
				if _, err := generate.Run(t.Context(), o); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

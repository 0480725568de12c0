package generate

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
	"golang.org/x/sync/errgroup"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/bench/build"
)

var (
	updateEditions = flag.Bool("update", false, "rewrite the golden files of versions")
	programsFlag   = flag.String("programs", "", "the `folder` that versions of controller-gen are built into, and kept; a temporary one when empty")
)

// versions are those of controller-gen with output of their own, oldest first.
var versions = strings.Fields("v0.14.0 v0.15.0 v0.16.0 v0.16.1 v0.16.2 v0.16.3 v0.16.4 v0.16.5 v0.17.0 v0.17.1 v0.17.2 v0.17.3 v0.18.0 v0.19.0 v0.20.0 v0.20.1 v0.21.0 v0.22.0 v0.23.0")

// editions are the small packages whose golden files say what each version makes of them.
const editions = "../../../internal/generate/testdata/editions"

// TestEditions runs every version of controller-gen on packages that show what differs between them, and compares what
// it makes with the golden files, which a test of the generators has ours compared with.
func TestEditions(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-versions, since it compiles nineteen programs")
	}
	files, err := filepath.Glob(filepath.Join(editions, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	programs := buildVersions(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			compareEditions(t, file, programs)
		})
	}
}

// buildVersions builds the versions that are not there.
func buildVersions(t *testing.T) map[string]string {
	t.Helper()
	dir := *programsFlag
	if dir == "" {
		dir = t.TempDir()
	}
	programs := make(map[string]string)
	for _, version := range versions {
		program := filepath.Join(dir, "controller-gen-"+version)
		programs[version] = program
		if _, err := os.Stat(program); err == nil {
			continue
		}
		made, err := build.ControllerGenOf(t.Context(), t.TempDir(), version)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return programs
}

func compareEditions(t *testing.T, file string, programs map[string]string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var sources []txtar.File
	for _, f := range archive.Files {
		if !semver.IsValid(strings.Split(f.Name, "/")[0]) {
			sources = append(sources, f)
		}
	}
	made := make([]map[string]string, len(versions))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(2)
	for i, version := range versions {
		group.Go(func() error {
			made[i] = madeBy(ctx, t, programs[version], version, sources, commandOf(archive))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	golden := &txtar.Archive{Comment: archive.Comment, Files: sources}
	for i, version := range versions {
		if i > 0 && maps.Equal(withoutStamp(made[i], version), withoutStamp(made[i-1], versions[i-1])) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(made[i])) {
			golden.Files = append(golden.Files, txtar.File{Name: version + "/" + name, Data: []byte(made[i][name])})
		}
	}
	text := txtar.Format(golden)
	if *updateEditions {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was := txtar.Format(archive); !bytes.Equal(was, text) {
		theirs := filepath.Join(t.TempDir(), "made.txtar")
		if err := os.WriteFile(theirs, text, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s is not what the programs make:\n%s", file, diff(theirs, file))
	}
}

// commandOf returns the arguments, which are in the last line of an archive's comment.
func commandOf(archive *txtar.Archive) []string {
	lines := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
	return strings.Fields(lines[len(lines)-1])
}

// withoutStamp is what a version made, whatever it is called.
func withoutStamp(made map[string]string, version string) map[string]string {
	plain := make(map[string]string, len(made))
	for name, content := range made {
		plain[name] = strings.ReplaceAll(content, version, "VERSION")
	}
	return plain
}

// madeBy are the files that a program makes of sources, as if it were the version; a file called refused if it refuses
// them, and one called nothing if there are none.
func madeBy(ctx context.Context, t *testing.T, program, version string, sources []txtar.File, args []string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	module(t, dir, "example.com/project")
	for _, f := range sources {
		writeFiles(t, dir, map[string]string{f.Name: string(f.Data)})
	}
	out := filepath.Join(dir, "out")
	args = append(slices.Clone(args), "output:dir="+out)
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "paths=") }) {
		args = append(args, "paths=./...")
	}
	o := execute(ctx, t, dir, program, args...)
	if o.code != 0 {
		return map[string]string{"refused": ""}
	}
	made := make(map[string]string)
	if _, err := os.Stat(out); err == nil {
		for name, content := range readTree(t, out) {
			if name != nameless {
				made[name] = string(stamp(content, version))
			}
		}
	}
	if len(made) == 0 {
		made["nothing"] = ""
	}
	return made
}

// stamp gives a definition the version of a program that could not be compiled unchanged, and does not know its own.
func stamp(content []byte, version string) []byte {
	for _, unknown := range []string{"(devel)", "(unknown)"} {
		content = bytes.Replace(content, []byte("controller-gen.kubebuilder.io/version: "+unknown), []byte("controller-gen.kubebuilder.io/version: "+version), 1)
	}
	return content
}

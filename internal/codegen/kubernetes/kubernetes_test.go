package kubernetes_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/codegen/kubernetes"
	"github.com/slipway-dev/slipway/internal/codegen/wire"
)

// pkg is an API package that imports nothing: the generators look at names and comments alone.
const pkg = `
-- go.mod --
module example.com/op

go 1.24
-- api/batch/v1/types.go --
// +groupName=batch.example.com
package v1

type TypeMeta struct{}

type ObjectMeta struct{ Name string }

// Job is a job.
type Job struct {
	TypeMeta
	ObjectMeta
	Spec JobSpec ` + "`json:\"spec\"`" + `
}

type JobSpec struct {
	Size int ` + "`json:\"size\"`" + `
}
-- header.txt --
// Copyright the author
`

// module writes the package into a folder, in which the test runs.
func module(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range txtar.Parse([]byte(pkg)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir) // the program's folder is its own to change; this brings the test's back
	return dir
}

// ask has the program answer.
func ask(t *testing.T, request string) (answer wire.Answer, code int, said string) {
	t.Helper()
	name := os.Args[0] // which the generators take for their own
	defer func() { os.Args[0] = name }()
	var stdout, stderr bytes.Buffer
	code = kubernetes.Main(strings.NewReader(request), &stdout, &stderr)
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer, code, stderr.String()
}

func request(t *testing.T, dir string, runs ...wire.Run) string {
	t.Helper()
	text, err := json.Marshal(wire.Request{Protocol: wire.Protocol, Dir: dir, Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run is one of a generator for the package, whose type Job asks for a client.
func run(generator, dir string, arguments ...string) wire.Run {
	const path = "example.com/op/api/batch/v1"
	return wire.Run{
		Generator: generator, Packages: []string{path}, Tags: []wire.Tag{{Package: path, Text: "+groupName=batch.example.com"}, {Package: path, Type: "Job", Text: "+genclient"}},
		Arguments: append([]string{"--output-dir", filepath.Join(dir, "out"), "--output-pkg", "example.com/op/out", "--go-header-file", filepath.Join(dir, "header.txt")}, arguments...),
	}
}

// TestAnswer: files come back as text, and none is written. All runs of a request are answered at once.
func TestAnswer(t *testing.T) {
	dir := module(t)
	apply := run(wire.ApplyConfigurations, dir)
	apply.Name = "mine"
	answer, code, said := ask(t, request(t, dir, run(wire.Listers, dir), apply))
	if code != 0 || answer.Protocol != wire.Protocol || answer.Problem != "" {
		t.Fatalf("exit code %d, problem %q, said %q", code, answer.Problem, said)
	}
	for program, texts := range map[string][]string{
		"lister-gen": {"// Copyright the author\n", "type JobLister interface"},
		"mine":       {"// Copyright the author\n", "package internal\n"},
	} {
		made := filesOf(answer, program)
		for _, text := range texts {
			if !strings.Contains(made, text) {
				t.Errorf("the files of %s lack %q:\n%s", program, text, made)
			}
		}
	}
	for _, f := range answer.Files {
		if !strings.HasPrefix(f.Path, filepath.Join(dir, "out")) {
			t.Errorf("%s is elsewhere", f.Path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// TestMain: the program answers its parser in the place of the go command, and here the test is the program.
func TestMain(m *testing.M) {
	if os.Getenv("SLIPWAY_CODEGEN_WORLD") != "" {
		os.Exit(kubernetes.Main(nil, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestWorld: with packages in the request the go command is not asked, which knows no module here, and the files are
// the same.
func TestWorld(t *testing.T) {
	dir := module(t)
	runs := []wire.Run{run(wire.Listers, dir), run(wire.ApplyConfigurations, dir)}
	want, _, _ := ask(t, request(t, dir, runs...))
	if len(want.Files) == 0 {
		t.Fatal(want.Problem)
	}
	if err := os.Remove(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if none, _, _ := ask(t, request(t, dir, runs...)); none.Problem == "" {
		t.Error("the package is found without a module")
	}
	const path = "example.com/op/api/batch/v1"
	types := filepath.Join(dir, "api", "batch", "v1", "types.go")
	text, err := json.Marshal(wire.Request{Protocol: wire.Protocol, Dir: dir, Runs: runs, World: []wire.Package{{Path: path, Name: "v1", Files: []string{types}}}})
	if err != nil {
		t.Fatal(err)
	}
	got, code, said := ask(t, string(text))
	if code != 0 || got.Problem != "" {
		t.Fatalf("exit code %d, problem %q, said %q", code, got.Problem, said)
	}
	if diff := cmp.Diff(want.Files, got.Files); diff != "" {
		t.Error(diff)
	}
	for _, variable := range []string{"GOPACKAGESDRIVER", "SLIPWAY_CODEGEN_WORLD"} {
		if value := os.Getenv(variable); value != "" {
			t.Errorf("%s is still %s", variable, value)
		}
	}
}

// filesOf are the texts of the files that say that a program generated them.
func filesOf(a wire.Answer, program string) (text string) {
	for _, f := range a.Files {
		if bytes.Contains(f.Content, []byte("// Code generated by "+program+". DO NOT EDIT.")) {
			text += string(f.Content)
		}
	}
	return text
}

// TestProblems: what cannot be generated is answered with a problem, which is no failure of the program.
func TestProblems(t *testing.T) {
	dir := module(t)
	missing := run(wire.Listers, dir)
	missing.Packages = []string{"example.com/op/none"}
	strange := run(wire.Listers, dir)
	strange.Tags = append(strange.Tags, wire.Tag{Package: "example.com/other", Text: "+x"})
	for name, test := range map[string]struct{ request, problem string }{
		"another protocol":       {`{"protocol":0}`, "their versions differ"},
		"no such folder":         {request(t, filepath.Join(dir, "none")), "none"},
		"no such generator":      {request(t, dir, run("none-gen", dir)), "none-gen: unknown generator"},
		"no such package":        {request(t, dir, missing), "example.com/op/none"},
		"a tag of no package":    {request(t, dir, strange), "package example.com/other was not found"},
		"an unknown argument":    {request(t, dir, run(wire.Listers, dir, "--none")), "unknown flag: --none"},
		"an argument that lacks": {request(t, dir, wire.Run{Generator: wire.Listers, Packages: run("", dir).Packages}), "lister-gen: --output-dir must be specified"},
	} {
		answer, code, said := ask(t, test.request)
		if code != 0 || !strings.Contains(answer.Problem, test.problem) || len(answer.Files) > 0 {
			t.Errorf("%s: exit code %d, problem %q, said %q, want %q", name, code, answer.Problem, said, test.problem)
		}
	}
	if _, code, said := ask(t, "no request"); code != 2 || !strings.Contains(said, "no request on stdin") {
		t.Errorf("without a request: exit code %d, said %q", code, said)
	}
}

package controllergen

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// commandLines are run with both programs, in a copy of testdata/project.txtar each.
var commandLines = []string{
	// Nothing to do, or too little.
	"",
	"paths=./api/...;./internal/...",
	"crd",
	"output:stdout",
	// What the Makefiles of projects say.
	`rbac:roleName=manager-role crd paths=./api/...;./internal/... output:crd:artifacts:config=config/crd/bases`,
	`object:headerFile=hack/boilerplate.go.txt paths=./api/...;./internal/...`,
	// Every output rule, as default and for a generator, in any order.
	"crd object rbac:roleName=r paths=./api/...;./internal/...",
	"output:dir=out paths=./api/...;./internal/... rbac:roleName=r crd",
	"output:dir=out object paths=./api/...",
	"output:stdout paths=./api/...;./internal/... rbac:roleName=r crd",
	"rbac:roleName=r output:stdout object paths=./api/...;./internal/... crd",
	"output:none paths=./api/...;./internal/... crd rbac:roleName=r output:rbac:dir=x/y",
	"crd object output:none paths=./api/...;./internal/...",
	"crd object output:artifacts:config=c,code=g paths=./api/...;./internal/...",
	"crd object output:artifacts:config=c paths=./api/...;./internal/...",
	"crd object output:artifacts:code=g paths=./api/...;./internal/...",
	`crd output:artifacts:config="" paths=./api/...;./internal/...`,
	"crd rbac:roleName=r output:crd:artifacts:config=c output:stdout paths=./api/...;./internal/...",
	"crd output:dir=a output:stdout paths=./api/...;./internal/...",
	"crd output:crd:dir=a output:crd:dir=b paths=./api/...;./internal/...",
	"crd output:crd:stdout paths=./api/...;./internal/...",
	"object output:crd:dir=a paths=./api/...;./internal/...",
	"crd output:dir paths=./api/...;./internal/...",
	"crd output:dir= paths=./api/...;./internal/...",
	"crd output:stdout=x paths=./api/...;./internal/...",
	"crd output:nowhere paths=./api/...;./internal/...",
	"crd output:crd paths=./api/...;./internal/...",
	// Plus signs, several paths, spellings of paths.
	"+crd +paths=./api/... +output:stdout",
	"crd paths=./api/v1 paths=./internal/... output:stdout",
	"crd rbac:roleName=r paths=./api/v1;./internal/controller output:stdout",
	"crd paths={./api/v1,./internal/controller} output:stdout",
	"crd paths=./api/v1/ output:stdout",
	"crd paths=api/v1 output:stdout",
	"crd paths=./nowhere output:stdout",
	"crd paths=./nowhere/... output:stdout",
	"crd paths=example.com/nowhere output:stdout",
	"crd paths= output:stdout",
	"crd paths output:stdout",
	"object paths=./hack output:stdout",
	"crd rbac:roleName=r object paths=./cmd output:stdout",
	"crd paths=./tests output:stdout",
	"crd paths=./hack output:stdout",
	"crd paths=./api/... paths=../project/api/v1 output:stdout",
	"crd paths=k8s.io/apimachinery/pkg/apis/meta/v1 output:stdout",
	// Mistakes in the code.
	"crd object paths=./bad/misspelt output:stdout",
	"crd object paths=./bad/value output:stdout",
	"crd paths=./bad/float output:stdout",
	"crd:allowDangerousTypes=true paths=./bad/float output:stdout",
	"object paths=./bad/value output:stdout",
	"rbac:roleName=r paths=./... output:stdout",
	"crd paths=./bad/syntax output:stdout",
	"crd paths=./api/v1;./bad/float output:stdout",
	"crd paths=./api/v1;./bad/float",
	// Options of generators, also of times gone by.
	"crd:maxDescLen=0 paths=./api/...;./internal/... output:stdout",
	"crd:maxDescLen=ten paths=./api/...;./internal/... output:stdout",
	"crd:maxDescLen paths=./api/...;./internal/... output:stdout",
	"crd:trivialVersions=true paths=./api/...;./internal/... output:stdout",
	"crd:trivialVersions=true,preserveUnknownFields=false paths=./api/...;./internal/... output:stdout",
	"crd:crdVersions=v1 paths=./api/...;./internal/... output:stdout",
	"crd:crdVersions={v1} paths=./api/...;./internal/... output:stdout",
	"crd:omitToolVersion=true paths=./api/...;./internal/... output:stdout",
	"crd:generateEmbeddedObjectMeta=true,allowDangerousTypes=false paths=./api/...;./internal/... output:stdout",
	"crd:deprecatedV1beta1CompatibilityPreserveUnknownFields=false paths=./api/...;./internal/... output:stdout",
	"crd:headerFile=hack/nothing.txt paths=./api/...;./internal/... output:stdout",
	"crd= paths=./api/...;./internal/... output:stdout",
	"crd=x paths=./api/...;./internal/... output:stdout",
	"crd: paths=./api/...;./internal/... output:stdout",
	"crd crd paths=./api/...;./internal/... output:stdout",
	"rbac paths=./api/...;./internal/... output:stdout",
	"rbac:roleName= paths=./api/...;./internal/... output:stdout",
	`rbac:roleName="a role" paths=./api/...;./internal/... output:stdout`,
	"rbac:roleName=r,fileName=all.yaml paths=./api/...;./internal/...",
	"rbac:roleName=r,fileName=sub/all.yaml paths=./api/...;./internal/...",
	"rbac:roleName=r,headerFile=hack/header.yaml.txt,year=2031 paths=./api/...;./internal/... output:stdout",
	"rbac:fileName=all.yaml paths=./api/...;./internal/... output:stdout",
	"object:headerFile=hack/boilerplate.go.txt,year=2031 paths=./api/...;./internal/... output:stdout",
	"object:year=2031 paths=./api/...;./internal/... output:stdout",
	"rbac:roleName=r,year=2031,headerFile=hack/boilerplate.go.txt paths=./api/...;./internal/... output:stdout",
	"crds paths=./api/...;./internal/...",
	"generate",
	"help",
	// Flags, before and after.
	"--version",
	"--version crd",
	"--help",
	"crd --help",
	"-h",
	"-hhh",
	"-hhhhh",
	"crd -w",
	"-w crd",
	"crd -ww object",
	"crd --which-markers --which-markers",
	"crd -wwwww",
	"-w",
	"-wwww",
	"crds -w",
	"crd:maxDescLen=x -w",
	"--nothing",
	"-x",
	"crd --load-build-tags=ignore_autogenerated,other paths=./api/...;./internal/... output:stdout",
	"crd --load-build-tags= paths=./api/... output:stdout",
	"crd --load-build-tags",
	"-- crd paths=./api/...;./internal/... output:stdout",
	"crd paths=./api/...;./internal/... output:stdout --verbose",
	"-v",
}

// TestSameCommandLine runs both programs with the same arguments and compares exit codes, whether something
// was written to each stream, what stdout holds if it is generated, and the files.
func TestSameCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	both := buildBoth(t)
	for _, line := range commandLines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			ours, peer := runIn(t, both.ours, args), runIn(t, both.peer, args)
			ours.compare(t, peer, args)
		})
	}
}

// unpack puts the project, and what stands beside it, into dir.
func unpack(t *testing.T, dir string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "project.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := txtar.FS(archive)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
}

// outcome is what a program did.
type outcome struct {
	code           int
	stdout, stderr string
	files          map[string]string // what it made or changed
}

// runIn runs a program in a project of its own.
func runIn(t *testing.T, program string, args []string) outcome {
	t.Helper()
	dir := t.TempDir()
	unpack(t, dir)
	dir = filepath.Join(dir, "project")
	before := tree(t, dir)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	o := outcome{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), files: tree(t, dir)}
	for name, content := range before {
		if o.files[name] == content {
			delete(o.files, name)
		}
	}
	return o
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compare tells where ours differs from the peer's. Words of help and errors are each program's own.
func (o outcome) compare(t *testing.T, peer outcome, args []string) {
	t.Helper()
	if o.code != peer.code {
		t.Errorf("exit code %d, controller-gen's %d; stderr:\n%s\ncontroller-gen's:\n%s", o.code, peer.code, o.stderr, peer.stderr)
	}
	if o.code != 0 && o.stderr == "" {
		t.Error("it fails and says nothing")
	}
	if o.code == 0 && peer.stderr == "" && !onlyWarnings(o.stderr) {
		t.Errorf("stderr, where controller-gen says nothing:\n%s", o.stderr)
	}
	if o.code != 0 { // ours writes nothing then, the peer what it could make
		if len(o.files) > 0 || o.stdout != "" && !isHelp(args) {
			t.Errorf("it fails and writes %v and\n%s", o.files, o.stdout)
		}
		return
	}
	switch {
	case (o.stdout == "") != (peer.stdout == ""):
		t.Errorf("stdout:\n%s\ncontroller-gen's:\n%s", o.stdout, peer.stdout)
	case !isHelp(args) && o.stdout != peer.stdout:
		t.Errorf("stdout:\n%s\ncontroller-gen's:\n%s", o.stdout, peer.stdout)
	}
	for name, want := range peer.files {
		if got, found := o.files[name]; !found || got != want {
			t.Errorf("%s: written %v:\n%s\ncontroller-gen's:\n%s", name, found, got, want)
		}
	}
	for name := range o.files {
		if _, found := peer.files[name]; !found {
			t.Errorf("%s is written by ours only", name)
		}
	}
}

// onlyWarnings tells whether nothing but warnings, with their hints, was told.
func onlyWarnings(stderr string) bool {
	for line := range strings.Lines(stderr) {
		if !strings.Contains(line, "warning:") && !strings.HasPrefix(line, "    ") {
			return false
		}
	}
	return true
}

// isHelp tells whether the arguments ask for help, which is in each program's own words.
func isHelp(args []string) bool {
	for _, a := range args {
		if a == "--help" || strings.HasPrefix(a, "-h") || strings.HasPrefix(a, "-w") || strings.HasPrefix(a, "--which") {
			return true
		}
	}
	return false
}

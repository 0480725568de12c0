package compile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/image/compile"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
)

// module writes a module of one program.
func module(t *testing.T, dockerfile string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/op\n\ngo 1.24\n")
	write(t, dir, "cmd/main.go", "package main\n\nimport \"math/bits\"\n\nvar version = \"none\"\n\nfunc main() { println(version, bits.OnesCount(uint(len(version))), tagged) }\n")
	write(t, dir, "cmd/plain.go", "//go:build !tagged\n\npackage main\n\nconst tagged = false\n")
	write(t, dir, "cmd/tagged.go", "//go:build tagged\n\npackage main\n\nconst tagged = true\n")
	if dockerfile != "" {
		write(t, dir, "Dockerfile", "FROM golang AS b\n"+dockerfile+"\nFROM scratch\nCOPY --from=b /m /m\n")
	}
	return dir
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// compiled compiles the manager in dir and returns its digest, and the warnings.
func compiled(t *testing.T, dir string) (digest string, warnings []string) {
	t.Helper()
	m, err := compile.Find(dir, compile.Source{AllowIncomplete: true})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := m.Compile(t.Context(), m.Programs[0], compile.Platform{OS: "linux", Arch: "amd64"}, store.Store{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if digest, err = p.Digest(); err != nil {
		t.Fatal(err)
	}
	warnings, lacks := m.Left(false)
	return digest, slices.Concat(warnings, lacks)
}

func contains(texts []string, part string) bool {
	return strings.Contains(strings.Join(texts, "\n"), part)
}

// plain is a user without settings.
func plain(t *testing.T) {
	t.Helper()
	t.Setenv("GOENV", "off")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "")
}

// TestSameForAllUsers: what a user has set for the go command, by variables or by go env -w, changes no byte.
func TestSameForAllUsers(t *testing.T) {
	dir := module(t, "")
	work := write(t, t.TempDir(), "go.work", "go 1.24\n\ngodebug default=go1.21\n\nuse "+dir+"\n")
	settings := map[string]string{"GOAMD64": "v3", "GOFLAGS": "-tags=tagged -modcacherw", "GOEXPERIMENT": "nogreenteagc", "GOWORK": work, "GOFIPS140": "latest",
		"GOARM64": "v9.0", "CGO_ENABLED": "1", "GO111MODULE": "auto"}
	t.Setenv("GOENV", filepath.Join(t.TempDir(), "none"))
	for name := range settings {
		t.Setenv(name, "")
	}
	want, warnings := compiled(t, dir)
	if len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
	var file strings.Builder
	for name, value := range settings {
		file.WriteString(name + "=" + value + "\n")
	}
	written := write(t, t.TempDir(), "env", file.String())
	check := func(how string) {
		t.Helper()
		got, warnings := compiled(t, dir)
		if got != want {
			t.Errorf("another program by %s", how)
		}
		if !contains(warnings, "-tags=tagged") || contains(warnings, "modcacherw") || contains(warnings, work) != (how == "variables") {
			t.Errorf("warnings: %q", warnings)
		}
	}
	t.Setenv("GOENV", written)
	check("go env -w")
	for name, value := range settings {
		t.Setenv(name, value)
	}
	t.Setenv("GOENV", "off")
	check("variables")
}

// TestWorkspace: one of the module's own folder is the project's, and one above it is not.
func TestWorkspace(t *testing.T) {
	plain(t)
	dir := module(t, "")
	want, _ := compiled(t, dir)
	write(t, filepath.Dir(dir), "go.work", "this is no workspace")
	got, warnings := compiled(t, dir)
	if got != want || !contains(warnings, filepath.Join(filepath.Dir(dir), "go.work")) {
		t.Errorf("one above it: the same is %v, warnings %q", got == want, warnings)
	}
	write(t, dir, "go.work", "go 1.24\n\nuse .\n\nuse ./more\n")
	write(t, dir, "more/go.mod", "module example.com/more\n\ngo 1.24\n")
	write(t, dir, "more/more.go", "package more\n\nconst More = true\n")
	write(t, dir, "cmd/more.go", "package main\n\nimport _ \"example.com/more\"\n")
	if _, warnings := compiled(t, dir); len(warnings) > 0 {
		t.Errorf("its own: %q", warnings)
	}
}

// TestNothingOfTheProjectIsRun: neither what a Dockerfile names nor what a repository's configuration does.
func TestNothingOfTheProjectIsRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands for programs")
	}
	canary := filepath.Join(t.TempDir(), "ran")
	for name, dockerfile := range map[string]string{
		"ENV":    "ENV GOFLAGS=-toolexec=./hack/x.sh\nRUN go build -o /m ./cmd",
		"ARG":    "ARG GOFLAGS=-toolexec=./hack/x.sh\nRUN go build -o /m ./cmd",
		"RUN":    "RUN GOFLAGS=-toolexec=./hack/x.sh go build -o /m ./cmd",
		"-extld": "RUN go build -ldflags='-linkmode=external -extld=./hack/x.sh' -o /m ./cmd",
		"CC":     "RUN CC=./hack/x.sh GOCACHEPROG=./hack/x.sh go build -o /m ./cmd",
	} {
		t.Run(name, func(t *testing.T) {
			dir := module(t, dockerfile)
			write(t, dir, "hack/x.sh", "#!/bin/sh\ntouch "+canary+"\nexec \"$@\"\n")
			write(t, dir, "cmd/c.go", "package main\n\n// #include <stdlib.h>\nimport \"C\"\n")
			if _, warnings := compiled(t, dir); !contains(warnings, "hack/x.sh") && !contains(warnings, "-extld") {
				t.Errorf("it is not told: %q", warnings)
			}
		})
	}
	t.Run("git", func(t *testing.T) {
		t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
		plain(t)
		dir := module(t, "")
		script := write(t, t.TempDir(), "x.sh", "#!/bin/sh\ntouch "+canary+"\ncat\n")
		git := func(args ...string) {
			t.Helper()
			if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		git("init", "-q")
		git("add", ".")
		git("commit", "-qm", "one")
		want, _ := compiled(t, dir)
		git("config", "core.fsmonitor", script)
		if got, warnings := compiled(t, dir); got != want || len(warnings) > 0 {
			t.Errorf("with a monitor: the same is %v, %q", got == want, warnings)
		}
		git("config", "filter.x.clean", script)
		write(t, dir, ".git/info/attributes", "*.go filter=x\n")
		write(t, dir, "cmd/main.go", "package main\n\nfunc main() {}\n")
		if _, warnings := compiled(t, dir); !contains(warnings, "filter.x.clean") {
			t.Errorf("with a filter: %q", warnings)
		}
	})
	if _, err := os.Stat(canary); err == nil {
		t.Error("a program of the project was run")
	}
}

// TestOutsideOfTheModule: a Dockerfile names no package and no go.mod of another place.
func TestOutsideOfTheModule(t *testing.T) {
	dir := module(t, "RUN go build -modfile=alt.mod -o /m ./cmd")
	if err := os.Symlink(write(t, t.TempDir(), "alt.mod", "module example.com/op\n\ngo 1.24\n"), filepath.Join(dir, "alt.mod")); err != nil {
		t.Skip(err)
	}
	sums := module(t, "RUN go build -mod=mod -o /m ./cmd")
	if err := os.Symlink(filepath.Join(t.TempDir(), "none"), filepath.Join(sums, "go.sum")); err != nil {
		t.Skip(err)
	}
	other := module(t, "")
	for name, dir := range map[string]string{"a link": dir, "what -mod=mod writes": sums, "a package": module(t, "RUN go build -o /m ../"+filepath.Base(other)+"/cmd")} {
		m, err := compile.Find(dir, compile.Source{})
		if err == nil {
			_, err = m.Prepare(t.Context())
		}
		if e, ok := errors.AsType[*report.Error](err); !ok || e.Where == "" || e.Classified() != report.BadProject {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDockerfileElsewhere: a Dockerfile that is a link out of the repository is not read, since messages show its
// lines; one that its user names there is.
func TestDockerfileElsewhere(t *testing.T) {
	const secret = "SECRETS=of-another-user\n"
	outside := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(outside, []byte("FROM scratch\n"+secret), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := module(t, "RUN go build -o /m ./cmd")
	for _, name := range []string{"Dockerfile", "docker/Dockerfile"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(outside, path)); err != nil {
			t.Skip(err)
		}
		from := compile.Source{AllowIncomplete: true}
		if name != "Dockerfile" {
			t.Chdir(dir)
			from.Dockerfile = name
		}
		m, err := compile.Find(dir, from)
		if left, lacks := m.Left(false); !errors.Is(err, fileview.ErrOutside) || len(left)+len(lacks) > 0 {
			t.Errorf("%s: got %v, %q, %q", name, err, left, lacks)
		}
	}
	if _, err := compile.Find(dir, compile.Source{Dockerfile: outside, AllowIncomplete: true, Package: "./cmd"}); err != nil {
		t.Error(err)
	}
}

// TestLinkedCode: what the compiler says is not shown where it could quote a file that is not of the repository.
func TestLinkedCode(t *testing.T) {
	dir := module(t, "")
	if err := os.Symlink(write(t, t.TempDir(), "secret", "hunter2 hunter3\n"), filepath.Join(dir, "cmd", "more.go")); err != nil {
		t.Skip(err)
	}
	m, err := compile.Find(dir, compile.Source{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = m.Compile(t.Context(), m.Programs[0], compile.Platform{OS: "linux", Arch: "amd64"}, store.Store{Dir: t.TempDir()})
	refusal, is := errors.AsType[*report.Error](err)
	if !is || refusal.Where != "cmd/more.go" || strings.Contains(fmt.Sprint(refusal, refusal.Hint), "hunter") {
		t.Errorf("got %v, %+v", err, refusal)
	}
}

// TestNoFolderForTemporaryFiles: it is told as what it is.
func TestNoFolderForTemporaryFiles(t *testing.T) {
	dir := module(t, "")
	m, err := compile.Find(dir, compile.Source{})
	if err != nil {
		t.Fatal(err)
	}
	s := store.Store{Dir: t.TempDir()}
	if m, err = m.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("TMPDIR", none)
	t.Setenv("GOTMPDIR", "")
	m, err = m.Prepare(t.Context())
	if err == nil {
		_, err = m.Compile(t.Context(), m.Programs[0], compile.Platform{OS: "linux", Arch: "amd64"}, s)
	}
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != none || !strings.Contains(e.Hint, "TMPDIR") {
		t.Errorf("got %v", err)
	}
}

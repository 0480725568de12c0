package cli_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/codegen"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/rounds"
	"github.com/slipway-dev/slipway/internal/setupenvtest"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

var update = flag.Bool("update", false, "rewrite the expected output in scripts and golden files")

// TestMain makes this test binary the slipway command when a script calls it, under
// each of its names, so that scripts run the real main without building it first.
func TestMain(m *testing.M) {
	command := func() { os.Exit(cli.Main(context.Background(), cli.Process())) }
	testscript.Main(collecting{m}, map[string]func(){"slipway": command, "controller-gen": command, "controller-gen-v0.19.0": command, "kubectl": command, "kustomize": command, "setup-envtest": command, "type-scaffold": command})
}

// collecting has garbage collected in tests: package collector leaves that to the commands.
type collecting struct{ *testing.M }

func (m collecting) Run() int {
	debug.SetGCPercent(100)
	return m.M.Run()
}

// TestScript runs testdata/script/<folder>/*.txtar: one folder per verb. A script
// starts in an empty folder, with a home of its own; Go's caches and
// module proxy are the caller's; a script that must not reach the network says so.
func TestScript(t *testing.T) {
	dirs, err := filepath.Glob("testdata/script/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatal("no scripts in testdata/script")
	}
	slow := []string{"cluster", "test", "deploy"} // the longest scripts begin first, lest one runs alone at the end
	slices.SortStableFunc(dirs, func(a, b string) int {
		return slices.Index(slow, filepath.Base(b)) - slices.Index(slow, filepath.Base(a))
	})
	exports := shareModules(t)
	checks, clusters, loops := &typeChecks{}, &clusterPool{}, &developers{}
	t.Cleanup(clusters.close)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:                 dir,
				UpdateScripts:       *update,
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Setup:               shareExports(exports),
				Cmds:                map[string]func(*testscript.TestScript, bool, []string){"snapshot": snapshot, "same": same, "compiles": checks.command, "cluster": clusters.command, "exits": exits, "codegen": useCodegen, "registry": startRegistry, "pulled": pulled, "readenv": readEnv, "freeport": freePort, "replace": replace, "unpack": unpack, "age": age, "dev": loops.command, "page": askPage},
				Condition:           condition,
			})
		})
	}
}

// shareModules fetches and compiles the modules of new projects, once for all scripts. Scripts that begin side by side
// would each compile them, and ask the go command which packages are compiled: the answers are in the folder returned.
func shareModules(t *testing.T) (exports string) {
	t.Helper()
	vars, err := goEnv()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"PATH"}, systemEnv...) {
		if value, ok := os.LookupEnv(name); ok {
			vars = append(vars, name+"="+value)
		}
	}
	dir, cache := t.TempDir(), t.TempDir()
	vars = append(vars, "HOME="+t.TempDir(), "XDG_CACHE_HOME="+cache)
	for _, command := range []string{
		"slipway init --domain example.com --repo example.com/op",
		"slipway create api --group apps --version v1 --kind Site --resource --controller",
		"go list -deps -test -export ./...",
		"slipway create webhook --group apps --version v1 --kind Site --defaulting --dry-run", // all is compiled by now
	} {
		words := strings.Fields(command)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, vars
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, errs.String())
		}
	}
	return filepath.Join(cache, "slipway", "exports")
}

// sharedBuilds has the same scaffold compiled once, in whichever folders scripts make it: without -trimpath a package's
// folder is part of what Go's cache knows it by. Images are compiled with these settings anyway. Programs that run for
// a moment need no tables for debuggers and collect little garbage, and go vet has scripts of its own.
var sharedBuilds = []string{"GOFLAGS=-trimpath -gcflags=all=-dwarf=false -ldflags=-w -vet=off", "CGO_ENABLED=0", "GOGC=" + cmp.Or(os.Getenv("GOGC"), "400"), "GOMEMLIMIT=" + os.Getenv("GOMEMLIMIT")}

// goEnv is what scripts inherit of the caller's Go installation.
var goEnv = sync.OnceValues(func() ([]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOAUTH"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return nil, err
	}
	var vars []string
	for i, value := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		vars = append(vars, names[i]+"="+value)
	}
	return append(append(vars, sharedBuilds...), "GOTOOLCHAIN=local", "GOWORK=off"), nil
})

// systemEnv is by what scripts reach a module proxy, where that is not known to the system, and start a Go to which all
// users may write.
var systemEnv = []string{"SLIPWAY_TRUST", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// scriptEnv gives a script its home, below its own work folder, Go, and the embedded Kubernetes' version.
func scriptEnv(env *testscript.Env) error {
	vars, err := goEnv()
	if err != nil {
		return err
	}
	env.Vars = append(env.Vars, vars...)
	limits, err := testlimit.Environment(filepath.Join(env.WorkDir, ".limits"))
	if err != nil {
		return err
	}
	env.Vars = append(env.Vars, limits...)
	for _, name := range systemEnv {
		if value, ok := os.LookupEnv(name); ok {
			env.Setenv(name, value)
		}
	}
	env.Setenv("KUBERNETES", setupenvtest.Kubernetes)
	env.Setenv("MINOR", strings.TrimPrefix(semver.MajorMinor("v"+setupenvtest.Kubernetes), "v"))
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	env.Setenv("REPOSITORY", repository)
	home := filepath.Join(env.WorkDir, ".home")
	env.Setenv("HOME", home)
	env.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(home, ".state"))
	env.Values[scriptT{}] = env.T()
	clusterEnv(env)
	return os.MkdirAll(home, 0o700)
}

// shareExports has scripts find in a folder which packages are compiled.
func shareExports(exports string) func(*testscript.Env) error {
	return func(env *testscript.Env) error {
		cache := filepath.Join(env.WorkDir, ".home", ".cache", "slipway")
		if err := errors.Join(scriptEnv(env), os.MkdirAll(cache, 0o700)); err != nil {
			return err
		}
		return os.Symlink(exports, filepath.Join(cache, "exports"))
	}
}

// codegenProgram is the program that writes clients. It is small, so tests compile it when it does not exist.
var codegenProgram = sync.OnceValues(func() (string, error) {
	source, err := filepath.Abs(filepath.Join("..", ".."))
	getenv := func(name string) string {
		if name == "SLIPWAY_SOURCE" { // a test that is compiled with -trimpath does not know it
			return cmp.Or(os.Getenv(name), source)
		}
		return os.Getenv(name)
	}
	path, failed := codegen.NewFinder(getenv, report.Discard).Program(context.Background(), "")
	return path, errors.Join(err, failed)
})

// useCodegen is the script command `codegen`, for scripts that generate clients: all of them use one program.
func useCodegen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: codegen")
	}
	path, err := codegenProgram()
	ts.Check(err)
	ts.Setenv("SLIPWAY_CODEGEN", path)
}

// condition decides the conditions that testscript does not know itself: each is true where the environment names a
// program that takes long to compile, as `make test` has it. No test and no script compiles one. `thorough` is false in
// `make check`, which leaves to `make test` what a cheaper script or test shows as well.
func condition(name string) (bool, error) {
	if name == "thorough" {
		return os.Getenv(rounds.Few) == "", nil
	}
	variables := map[string]string{"cluster": "SLIPWAY_CLUSTER", "nodes": "SLIPWAY_NODE", "check": "SLIPWAY_CHECK"}
	variable, known := variables[name]
	if !known {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return os.Getenv(variable) != "", nil
}

// exits runs a program and fails unless it ends with an exit code: `exits CODE PROGRAM [ARGS]`. Its output is there for
// stdout and stderr, as after exec.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

// replace edits a file as its owner does: `replace OLD NEW FILE`. The text must be there.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace OLD NEW FILE")
	}
	before := ts.ReadFile(args[2])
	if !strings.Contains(before, args[0]) {
		ts.Fatalf("no %q in %s", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(before, args[0], args[1])), 0o644))
}

// age sets files back in time by a minute, as if their owner had paused: `age PATH...`. go test keeps no result of a
// test that reads a file of the last two seconds.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: age PATH...")
	}
	for _, arg := range args {
		ts.Check(filepath.WalkDir(ts.MkAbs(arg), func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			earlier := info.ModTime().Add(-time.Minute)
			return os.Chtimes(path, earlier, earlier)
		}))
	}
}

// unpack writes the files of an archive into a folder: `unpack ARCHIVE DIR`.
func unpack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unpack ARCHIVE DIR")
	}
	for _, f := range txtar.Parse([]byte(ts.ReadFile(args[0]))).Files {
		name := filepath.Join(ts.MkAbs(args[1]), filepath.FromSlash(f.Name))
		ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
		ts.Check(os.WriteFile(name, f.Data, 0o644))
	}
}

// snapshot remembers every file under a folder: `snapshot DIR`.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot DIR")
	}
	tree, err := readTree(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Setenv("snapshot", digest(tree))
}

// same fails unless the folder is as it was at the last snapshot: `same DIR`;
// `! same DIR` fails when nothing changed.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] same DIR")
	}
	tree, err := readTree(ts.MkAbs(args[0]))
	ts.Check(err)
	if (digest(tree) == ts.Getenv("snapshot")) == neg {
		ts.Fatalf("folder %s: unchanged is %v", args[0], !neg)
	}
}

// digest stands for a tree in the environment, which holds no large ones.
func digest(tree string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(tree))) }

// readTree lists the files under dir with their contents, as one string.
func readTree(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".home" {
				return filepath.SkipDir
			}
			b.WriteString(path + "/\n")
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b.WriteString(path + "\n" + strings.ReplaceAll(string(data), "\x00", `\0`) + "\n")
		return nil
	})
	return b.String(), err
}

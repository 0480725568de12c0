package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// bench is a project, a cluster that answers, and what children say.
type bench struct {
	Options
	stdout, stderr bytes.Buffer
	generated      []string
}

// newBench unpacks a project.
func newBench(t *testing.T, archive string) *bench {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	t.Cleanup(server.Close)
	b := &bench{}
	dir := t.TempDir()
	b.Options = Options{Dir: dir, Code: codeIn(dir), Stdout: &b.stdout, Stderr: &b.stderr, Handler: report.Discard}
	b.Generate = func(_ context.Context, root string) error { b.generated = append(b.generated, root); return nil }
	files := txtar.Parse([]byte(archive)).Files
	files = append(files,
		txtar.File{Name: "go.mod", Data: []byte("module example.com/operator\n\ngo 1.26\n")},
		txtar.File{Name: "kubeconfig", Data: []byte(fmt.Sprintf(`{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}], "clusters": [{"name": "c", "cluster": {"server": %q}}]}`, server.URL))})
	for _, f := range files {
		path := filepath.Join(b.Dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(b.Dir, "kubeconfig"), "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local")
	return b
}

// manager prints its arguments and ends with their number.
const manager = `
-- cmd/main.go --
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println(os.Args[1:])
	os.Exit(len(os.Args) - 1)
}
`

func TestRun(t *testing.T) {
	b := newBench(t, manager)
	err := Run(t.Context(), b.Options, []string{"--leader-elect", "-v=3"})
	if codeOf(err) != 2 {
		t.Errorf("Run returned %v, want the manager's code 2\n%s", err, b.stderr.String())
	}
	if got, want := b.stdout.String(), "[--leader-elect -v=3]\n"; got != want {
		t.Errorf("the manager printed %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{b.Dir}, b.generated); diff != "" {
		t.Errorf("generated (-want +got):\n%s", diff)
	}
	err = Run(t.Context(), b.Options, nil)
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.What != "the manager ended by itself, without an error" {
		t.Errorf("a manager that ends by itself: %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	for _, test := range []struct{ name, archive, what, said string }{
		{"broken code", "-- cmd/main.go --\npackage main\n\nfunc main() { undefinedThing() }\n", "the manager does not build", "cmd/main.go:3:15: undefined: undefinedThing"},
		{"nothing to build", "", "the project has no main package of a manager", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.archive)
			err := Run(t.Context(), b.Options, nil)
			known, ok := errors.AsType[*report.Error](err)
			if !ok || known.What != test.what {
				t.Errorf("Run returned %v, want %s", err, test.what)
			}
			if !strings.Contains(filepath.ToSlash(b.stderr.String()), test.said) {
				t.Errorf("stderr is %q, want the compiler's own %q", b.stderr.String(), test.said)
			}
		})
	}
}

// TestRunThroughLink: a link of the repository leads the compiled manager nowhere else.
func TestRunThroughLink(t *testing.T) {
	b, out := newBench(t, manager), t.TempDir()
	if err := os.Symlink(out, filepath.Join(b.Dir, "bin")); err != nil {
		t.Skip(err)
	}
	if err := Run(t.Context(), b.Options, nil); err == nil {
		t.Error("it ran")
	} else if _, ok := errors.AsType[*safefs.OutsideError](err); !ok {
		t.Error(err)
	}
	if files, err := os.ReadDir(out); err != nil || len(files) > 0 {
		t.Errorf("written: %v, %v", files, err)
	}
}

// TestRunWithoutCluster: nothing is generated or built in vain.
func TestRunWithoutCluster(t *testing.T) {
	b := newBench(t, manager)
	err := Run(t.Context(), b.Options, []string{"--kubeconfig", filepath.Join(b.Dir, "missing")})
	known, ok := errors.AsType[*report.Error](err)
	if !ok || known.Next != "slipway cluster start" || len(b.generated) > 0 {
		t.Errorf("Run returned %v after generating %v, want a way to get a cluster", err, b.generated)
	}
}

func TestKubeconfigOfManager(t *testing.T) {
	env := []string{"KUBECONFIG=old", "KUBECONFIG=a:b"}
	for _, args := range [][]string{{"--kubeconfig", "x"}, {"--kubeconfig=x"}, {"-v=1", "-kubeconfig=x"}} {
		if k := kubeconfig(env, args); k.Path != "x" || k.List != "a:b" {
			t.Errorf("%q means %+v, want x before a:b", args, k)
		}
	}
	for _, args := range [][]string{nil, {"--kubeconfig"}, {"kubeconfig=x"}} {
		if k := kubeconfig(env, args); k.Path != "" {
			t.Errorf("%q means %+v, want no path", args, k)
		}
	}
}

// suite fails unless it finds the control plane that it is told to expect.
const suite = `
-- deep/suite_test.go --
package deep

import (
	"os"
	"strings"
	"testing"
)

func TestAssets(t *testing.T) {
	var values []string
	for _, name := range []string{"KUBEBUILDER_ASSETS", "USE_EXISTING_CLUSTER", "KUBECONFIG", "SLIPWAY_CONTROLLERS", "SLIPWAY_SHARED_CLUSTER", "SLIPWAY_CLUSTER", "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"} {
		values = append(values, os.Getenv(name))
	}
	if got, want := strings.Join(values, ","), os.Getenv("WANT"); got != want {
		t.Errorf("KUBEBUILDER_ASSETS is %q, want %q", got, want)
	}
}
`

func TestTest(t *testing.T) {
	const assets, kubeconfig, socket = "/assets", "/kubeconfig", "/socket"
	for _, test := range []struct {
		name, env string
		suites    Suites
		want      string // KUBEBUILDER_ASSETS, USE_EXISTING_CLUSTER, KUBECONFIG, SLIPWAY_CONTROLLERS, SLIPWAY_SHARED_CLUSTER, SLIPWAY_CLUSTER and envtest's patience
	}{
		{name: "ours", want: "/assets,,,,,/program,3m"},
		{name: "with controllers", suites: Suites{Controllers: true}, want: "/assets,,,1,,/program,3m"},
		{name: "with some", suites: Suites{Controllers: true, ControllerNames: []string{"a", "b"}}, want: "/assets,,,a,b,,/program,3m"},
		{name: "shared", suites: Suites{Shared: true}, want: ",true,/kubeconfig,,/socket,,"},
		{name: "the user's patience", env: patienceVariable + "=10s", want: "/assets,,,,,/program,10s"},
		{name: "the user's", env: assetsVariable + "=/theirs", want: "/theirs,,,,,,"},
		{name: "an existing cluster", env: existingVariable + "=True", want: ",True,,,,,"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, suite)
			b.Env = append(b.Env, assetsVariable+"=", existingVariable+"=", kubeconfigVariable+"=", controllersVariable+"=", sharedVariable+"=", programVariable+"=", patienceVariable+"=", "WANT="+test.want, test.env)
			shared := false
			plane := ControlPlane{
				Assets:  func(context.Context) (string, error) { return assets, nil },
				Program: func(context.Context) (string, error) { return "/program", nil },
				Share: func(context.Context, Suites) (Shared, func() error, error) {
					shared = true
					return Shared{kubeconfig, socket}, func() error { shared = false; return nil }, nil
				},
			}
			test.suites.Args = []string{"-count=1"}
			if err := Test(t.Context(), b.Options, b.Dir, test.suites, plane); err != nil {
				t.Errorf("Test returned %v\n%s%s", err, b.stdout.String(), b.stderr.String())
			}
			if !strings.Contains(b.stdout.String(), "ok  \texample.com/operator/deep") {
				t.Errorf("stdout is %q, want that of go test", b.stdout.String())
			}
			if shared {
				t.Error("the shared cluster was not ended")
			}
		})
	}
}

func TestTestFails(t *testing.T) {
	b := newBench(t, suite)
	b.Env = append(b.Env, assetsVariable+"=/theirs", "WANT=/other,,,,,,")
	if err := Test(t.Context(), b.Options, "", Suites{}, ControlPlane{}); codeOf(err) != 1 {
		t.Errorf("Test returned %v, want the code of go test, 1", err)
	}
	if len(b.generated) > 0 {
		t.Errorf("generated %v without a project", b.generated)
	}
	for _, s := range []Suites{{Controllers: true}, {Shared: true}} {
		if err := Test(t.Context(), b.Options, "", s, ControlPlane{}); err == nil || !strings.Contains(err.Error(), assetsVariable) {
			t.Errorf("Test returned %v with another's control plane", err)
		}
	}
	unavailable := errors.New("no assets")
	b.Env = append(b.Env, assetsVariable+"=")
	plane := ControlPlane{
		Assets: func(context.Context) (string, error) { return "", unavailable },
		Share:  func(context.Context, Suites) (Shared, func() error, error) { return Shared{}, nil, unavailable },
	}
	for _, s := range []Suites{{}, {Shared: true}} {
		if err := Test(t.Context(), b.Options, "", s, plane); !errors.Is(err, unavailable) {
			t.Errorf("Test returned %v, want %v", err, unavailable)
		}
	}
}

func TestWithPackages(t *testing.T) {
	for _, test := range []struct{ given, want string }{
		{"", "./..."},
		{"./api", "./api"},
		{"-v", "-v ./..."},
		{"-v ./api", "-v ./api"},
		{"-run TestX/sub", "-run TestX/sub ./..."},
		{"-run TestX ./api ./cmd", "-run TestX ./api ./cmd"},
		{"--count=1 -race", "--count=1 -race ./..."},
		{"-coverprofile cover.out -short", "-coverprofile cover.out -short ./..."},
		{"-v -args -x y", "-v ./... -args -x y"},
		{"./api -args -x y", "./api -args -x y"},
	} {
		got := strings.Join(withPackages(strings.Fields(test.given)), " ")
		if got != test.want {
			t.Errorf("%q became %q, want %q", test.given, got, test.want)
		}
	}
}

//go:build unix

package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// yard is a checkout with a small program in place of the large one, and a
// cache of its own.
type yard struct {
	*Finder
	t     *testing.T
	root  string // of the checkout
	cache string
	env   map[string]string

	mu     sync.Mutex
	events []report.Event
	seen   func(report.Event)
}

// speaking is a program whose version command prints a protocol number. Tests link it often, so it imports little.
const speaking = `package main

import "syscall"

func main() {
	_, _ = syscall.Write(1, []byte("{\"protocol\": %d, \"version\": \"v1\", \"kubernetes\": \"1.37.1\"}\n"))
}
`

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{t: t, root: t.TempDir(), cache: filepath.Join(t.TempDir(), "cache")}
	y.env = map[string]string{"SLIPWAY_CACHE": y.cache}
	y.write("go.mod", "module "+Module+"\n\ngo 1.26\n")
	y.write("cluster/go.mod", "module "+clusterModule+"\n\ngo 1.26\n")
	y.write("cluster/cmd/slipway-cluster/main.go", fmt.Sprintf(speaking, protocol.Number))
	y.write("cluster/cmd/slipway-kubectl/main.go", "package main\n\nfunc main() {}\n")
	y.Finder = &Finder{
		Getenv:     func(key string) string { return y.env[key] },
		Handler:    report.HandlerFunc(y.handle),
		executable: func() (string, error) { return filepath.Join(y.root, "bin", "slipway"), nil },
		recorded:   y.root,
	}
	return y
}

func (y *yard) handle(e report.Event) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.events = append(y.events, e)
	if y.seen != nil {
		y.seen(e)
	}
}

// write replaces a file at once: a compiler may read it meanwhile.
func (y *yard) write(name, text string) string {
	y.t.Helper()
	path := filepath.Join(y.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		y.t.Fatal(err)
	}
	written := filepath.Join(y.t.TempDir(), "written")
	if err := errors.Join(os.WriteFile(written, []byte(text), 0o755), os.Rename(written, path)); err != nil {
		y.t.Fatal(err)
	}
	return path
}

// script writes a shell script as a program.
func (y *yard) script(name, text string) string { return y.write(name, "#!/bin/sh\n"+text+"\n") }

func (y *yard) ensure() Program {
	y.t.Helper()
	p, err := y.Ensure(y.t.Context())
	if err != nil {
		y.t.Fatal(err)
	}
	return p
}

// failure wants Ensure to fail and to leave no program and no half of one.
func (y *yard) failure() *report.Error {
	y.t.Helper()
	p, err := y.Ensure(y.t.Context())
	e, ok := errors.AsType[*report.Error](err)
	if !ok {
		y.t.Fatalf("program %+v, error %v", p, err)
	}
	y.wantNothingBuilt()
	return e
}

func (y *yard) wantNothingBuilt() {
	y.t.Helper()
	_ = filepath.WalkDir(filepath.Join(y.cache, "programs"), func(path string, d os.DirEntry, err error) error {
		if err == nil && (d.Name() == name || strings.HasPrefix(d.Name(), "build")) {
			y.t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

const (
	sameProtocol  = `echo '{"protocol": 3, "version": "v1"}'`
	otherSpeaking = `echo '{"protocol": 7, "version": "v7"}'`
)

func TestOrder(t *testing.T) {
	y := newYard(t)
	if _, err := y.Find(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Fatalf("found before it was built: %v", err)
	}
	if p := y.ensure(); p.Origin != FromBuild || !strings.HasPrefix(p.Path, y.cache) {
		t.Errorf("first: %+v", p)
	}
	if p := y.ensure(); p.Origin != FromCache {
		t.Errorf("second: %+v", p)
	}
	beside := y.script("bin/slipway-cluster", sameProtocol)
	if p := y.ensure(); p != (Program{beside, FromNeighbour}) {
		t.Errorf("with a neighbour: %+v", p)
	}
	named := y.script("elsewhere", sameProtocol)
	y.env["SLIPWAY_CLUSTER"] = named
	if p := y.ensure(); p != (Program{named, FromEnvironment}) {
		t.Errorf("named: %+v", p)
	}
}

// TestKubectl: a cluster starts without kubectl, which is built when it is needed, beside the cluster program.
func TestKubectl(t *testing.T) {
	y := newYard(t)
	program := y.ensure()
	if path, ok, err := y.FindKubectl(t.Context()); ok || err != nil || isFile(filepath.Join(filepath.Dir(program.Path), kubectlName)) {
		t.Fatalf("built with the cluster program: %s, %v, %v", path, ok, err)
	}
	path := y.kubectl()
	if filepath.Dir(path) != filepath.Dir(program.Path) || !isFile(path) {
		t.Errorf("built as %s, not beside %s", path, program.Path)
	}
	if again, ok, err := y.FindKubectl(t.Context()); again != path || !ok || err != nil {
		t.Errorf("found %s, %v, %v", again, ok, err)
	}
	if again := y.ensure(); again != (Program{program.Path, FromCache}) || len(y.warnings()) > 0 {
		t.Errorf("the cluster program is then %+v", again)
	}
	// One that is gone is built again, and the cluster program stays.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if again := y.kubectl(); again != path || !isFile(path) || y.ensure().Origin != FromCache {
		t.Errorf("built again as %s", again)
	}
	// It needs no cluster program.
	y.env["SLIPWAY_CACHE"] = filepath.Join(t.TempDir(), "cache")
	if path := y.kubectl(); !isFile(path) || isFile(filepath.Join(filepath.Dir(path), name)) {
		t.Errorf("alone it is %s", path)
	}
	if _, err := y.Find(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Errorf("the cluster program: %v", err)
	}
}

func (y *yard) kubectl() string {
	y.t.Helper()
	path, err := y.EnsureKubectl(y.t.Context())
	if err != nil {
		y.t.Fatal(err)
	}
	return path
}

// TestKubectlWithoutNetwork: the modules of kubectl are there once the cluster program is built.
func TestKubectlWithoutNetwork(t *testing.T) {
	y := newYard(t)
	const module, version = "example.com/plugin", "v0.1.0"
	y.write(module+"/go.mod", "module "+module+"\n\ngo 1.26\n")
	y.write(module+"/plugin.go", "package plugin\n")
	y.write("cluster/go.mod", "module "+clusterModule+"\n\ngo 1.26\n\nrequire "+module+" "+version+"\n")
	y.write("cluster/cmd/slipway-kubectl/plugin.go", "package main\n\nimport _ \""+module+"\"\n")
	y.proxy(version, module)
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = filepath.Join(y.root, "cluster")
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("GOMODCACHE", t.TempDir())
	y.ensure()
	t.Setenv("GOPROXY", "off")
	y.kubectl()
}

// TestNamedKubectl: a cluster program that the user named brings its kubectl, or else ours is built.
func TestNamedKubectl(t *testing.T) {
	y := newYard(t)
	named := y.script("elsewhere/slipway-cluster", sameProtocol)
	y.env["SLIPWAY_CLUSTER"] = named
	if path := y.kubectl(); !strings.HasPrefix(path, y.cache) {
		t.Errorf("a program without one: %q", path)
	}
	beside := y.script("elsewhere/slipway-kubectl", "")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(named, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{named, link} {
		y.env["SLIPWAY_CLUSTER"] = path
		if path := y.kubectl(); !sameFile(path, beside) {
			t.Errorf("beside %s: %q", named, path)
		}
	}
	n, err := noteOf(filepath.Dir(beside), "key", []string{kubectlName})
	if err := errors.Join(err, n.write(filepath.Dir(beside))); err != nil {
		t.Fatal(err)
	}
	cut(t, beside, 5)
	if _, err := y.EnsureKubectl(t.Context()); !errors.Is(err, errDamaged) {
		t.Errorf("a damaged one: %v", err)
	}
}

// TestNamedWithoutKubectl: a cluster program that the user named has no kubectl beside it, and there are no sources of
// one.
func TestNamedWithoutKubectl(t *testing.T) {
	y := newYard(t)
	y.recorded = ""
	named := y.script("elsewhere/slipway-cluster", sameProtocol)
	y.env["SLIPWAY_CLUSTER"] = named
	path, err := y.EnsureKubectl(t.Context())
	e, ok := errors.AsType[*report.Error](err)
	if path != "" || !ok || e.Where != named || !strings.Contains(e.Hint, "beside it") || e.Err == nil {
		t.Errorf("it is %q: %v", path, err)
	}
	if path, err := y.EnsureChecker(t.Context()); path != "" || err == nil {
		t.Errorf("the checker is %q: %v", path, err)
	}
}

// TestStartDoesNotWaitForKubectl: a command that needs the cluster program goes on once that is there, also while
// another one holds the slot for kubectl.
func TestStartDoesNotWaitForKubectl(t *testing.T) {
	y := newYard(t)
	s, _, err := y.slotOf(kubectlProduct())
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		t.Fatal(err)
	}
	release, err := s.hold(t.Context(), report.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	built := filepath.Join(t.TempDir(), "built")
	y.seen = func(e report.Event) { // it waits: the other command puts the cluster program there and goes on
		n, ok := e.(report.Note)
		if !ok || !strings.Contains(n.Text, "builds kubectl") {
			return
		}
		cluster, src, err := y.slotOf(clusterProduct())
		if err == nil {
			err = os.Mkdir(built, 0o700)
		}
		if err == nil {
			err = (&Finder{Getenv: y.Getenv, Handler: report.Discard}).build(t.Context(), cluster.product, src, built)
		}
		if err := errors.Join(err, cluster.take(built)); err != nil {
			t.Error(err)
		}
	}
	if p := y.ensure(); !isFile(p.Path) {
		t.Errorf("%+v", p)
	}
	if s.complete() {
		t.Error("kubectl is there")
	}
}

// TestAssetsAtOnce: commands that have the link changed at the same time have it there all the time.
func TestAssetsAtOnce(t *testing.T) {
	dir := t.TempDir()
	asset := filepath.Join(dir, "kubectl")
	programs := []string{filepath.Join(dir, "slipway"), filepath.Join(dir, "slipway-kubectl")}
	if err := link(programs[0], asset); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for turn := range 50 {
				if err := link(programs[(i+turn)%len(programs)], asset); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(asset); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := filepath.Glob(filepath.Join(dir, ".link-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAssets: kubectl among them is slipway itself until it is compiled.
func TestAssets(t *testing.T) {
	y := newYard(t)
	own := y.script("bin/slipway", "exit 0")
	assets := func() (dir, kubectl string) {
		t.Helper()
		dir, err := y.Assets(t.Context())
		if err == nil {
			kubectl, err = os.Readlink(filepath.Join(dir, "kubectl"))
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir, kubectl
	}
	dir, kubectl := assets()
	if kubectl != own {
		t.Errorf("it is %s", kubectl)
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if path, err := os.Readlink(filepath.Join(dir, name)); path != y.ensure().Path || err != nil {
			t.Errorf("%s is %s, %v", name, path, err)
		}
	}
	want := y.kubectl()
	if again, kubectl := assets(); again != dir || kubectl != want {
		t.Errorf("then it is %s in %s", kubectl, again)
	}
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func TestOtherProtocol(t *testing.T) {
	y := newYard(t)
	y.script("bin/slipway-cluster", otherSpeaking)
	if p := y.ensure(); p.Origin != FromBuild {
		t.Errorf("a neighbour that uses another protocol: %+v", p)
	}
	if !slices.ContainsFunc(y.events, func(e report.Event) bool {
		w, ok := e.(report.Warning)
		return ok && strings.Contains(w.Text, "protocol 7")
	}) {
		t.Error("no warning tells that the neighbour was passed over")
	}
	y.env["SLIPWAY_CLUSTER"] = y.script("named", otherSpeaking)
	_, err := y.Ensure(t.Context())
	if !errors.Is(err, errProtocol) {
		t.Errorf("named: %v", err)
	}
}

func TestOtherProtocolInSources(t *testing.T) {
	y := newYard(t)
	y.write("cluster/cmd/slipway-cluster/main.go", fmt.Sprintf(speaking, protocol.Number+1))
	e := y.failure()
	if !errors.Is(e, errProtocol) || e.Next == "" || e.Where != filepath.Join(y.root, "cluster") {
		t.Errorf("%+v", e)
	}
}

func TestNamedProgramIsUnusable(t *testing.T) {
	y := newYard(t)
	for name, path := range map[string]string{
		"missing":        filepath.Join(y.root, "nowhere"),
		"a folder":       y.root,
		"fails":          y.script("fails", "exit 1"),
		"other language": y.script("english", "echo version one"),
	} {
		y.env["SLIPWAY_CLUSTER"] = path
		_, err := y.Ensure(t.Context())
		if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != path || e.Err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProgress(t *testing.T) {
	y := newYard(t)
	y.ensure() // so that all but what is new is in the build cache
	y.events = nil
	y.write("cluster/hull/hull.go", fmt.Sprintf("// Package hull is new: %d.\npackage hull\n", time.Now().UnixNano()))
	y.write("cluster/cmd/slipway-cluster/hull.go", fmt.Sprintf("package main\n\nimport _ %q\n", clusterModule+"/hull"))
	y.ensure()
	var seen []report.Progress
	for _, e := range y.events {
		if p, ok := e.(report.Progress); ok {
			seen = append(seen, p)
		}
	}
	if len(seen) < 2 {
		t.Fatalf("progress: %+v", seen)
	}
	first, last := seen[0], seen[len(seen)-1]
	if first.Done >= first.Total || first.Done < first.Total-20 || last.Done != last.Total {
		t.Errorf("from %+v to %+v: packages in the build cache are done, and at the end all are", first, last)
	}
	if !slices.IsSortedFunc(seen, func(a, b report.Progress) int { return a.Done - b.Done }) {
		t.Errorf("progress goes back: %+v", seen)
	}
	if text := "compiling the cluster program"; first.Name != text || first.Unit != "packages" {
		t.Errorf("%+v", first)
	}
}

func TestSourcesDoNotCompile(t *testing.T) {
	y := newYard(t)
	y.write("cluster/cmd/slipway-cluster/broken.go", "package main\n\nvar keel int = \"oak\"\n")
	e := y.failure()
	if !strings.Contains(e.Hint, "broken.go:3") || e.Next == "" || e.Where != filepath.Join(y.root, "cluster") {
		t.Errorf("%+v", e)
	}
	y.write("cluster/cmd/slipway-cluster/broken.go", "package main\n\nimport _ \"example.com/nowhere\"\n")
	if e := y.failure(); !strings.Contains(e.Hint, "example.com/nowhere") {
		t.Errorf("%+v", e)
	}
}

func TestNoSources(t *testing.T) {
	y := newYard(t)
	y.recorded = t.TempDir()
	if e := y.failure(); !strings.Contains(e.Hint, "SLIPWAY_SOURCE") {
		t.Errorf("%+v", e)
	}
	y.env["SLIPWAY_SOURCE"] = y.recorded
	if e := y.failure(); e.Where != y.recorded {
		t.Errorf("%+v", e)
	}
	y.env["SLIPWAY_SOURCE"] = y.root
	y.ensure()
}

func TestNoGo(t *testing.T) {
	y := newYard(t)
	t.Setenv("PATH", t.TempDir())
	if e := y.failure(); !errors.Is(e, errNoGo) || !strings.Contains(e.Hint, "go.dev/dl") {
		t.Errorf("%+v", e)
	}
}

func TestCacheIsUnusable(t *testing.T) {
	y := newYard(t)
	y.env["SLIPWAY_CACHE"] = y.write("file", "")
	if e := y.failure(); !strings.Contains(e.Hint, "SLIPWAY_CACHE") || e.Where == "" {
		t.Errorf("%+v", e)
	}
}

func TestTwoBuildsAtOnce(t *testing.T) {
	y := newYard(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { y.ensure() })
	}
	wg.Wait()
	built := 0
	for _, e := range y.events {
		if s, ok := e.(report.Step); ok && s.Elapsed > 0 {
			built++
		}
	}
	if built != 1 {
		t.Errorf("built %d times", built)
	}
}

func TestWaitingForAnotherBuild(t *testing.T) {
	y := newYard(t)
	src, err := y.source(clusterProduct())
	if err != nil {
		t.Fatal(err)
	}
	s, err := y.slot(clusterProduct(), src)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.prepare(); err != nil {
		t.Fatal(err)
	}
	release, err := s.hold(t.Context(), report.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	var note string
	y.seen = func(e report.Event) {
		if n, ok := e.(report.Note); ok {
			note = n.Text
			cancel()
		}
	}
	if _, err := y.Ensure(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	if !strings.Contains(note, fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("note: %q", note)
	}
}

// TestInterrupt ends a build in the middle and wants its compilers to be gone. A
// go command that takes its time stands in for the real one.
func TestInterrupt(t *testing.T) {
	y := newYard(t)
	pid := filepath.Join(t.TempDir(), "pid")
	y.script("path/go", `case $1 in
list) printf 'a\ttrue\nb\ttrue\n' ;;
build) sh -c 'trap "" INT; sleep 1000' & echo $! > `+pid+`; echo a >&2; wait ;;
esac`)
	t.Setenv("PATH", filepath.Join(y.root, "path")+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	y.seen = func(e report.Event) {
		if p, ok := e.(report.Progress); ok && p.Done == 1 {
			cancel()
		}
	}
	if _, err := y.Ensure(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error: %v", err)
	}
	y.wantNothingBuilt()
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	wantEnded(t, strings.TrimSpace(string(text)))
}

// wantEnded waits until a process has ended; the test's end is the limit. One that
// ended and that nobody reaped is a zombie.
func wantEnded(t *testing.T, pid string) {
	t.Helper()
	var id int
	if _, err := fmt.Sscan(pid, &id); err != nil {
		t.Fatal(err)
	}
	for syscall.Kill(id, 0) == nil {
		if stat, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output(); err == nil && strings.HasPrefix(string(stat), "Z") {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("process %s still runs", pid)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// proxy has the go command get modules of the yard at a version, out of a module proxy on disk.
func (y *yard) proxy(version string, modules ...string) {
	y.t.Helper()
	proxy := y.t.TempDir()
	for _, path := range modules {
		folder := filepath.Join(y.root, strings.TrimPrefix(strings.TrimPrefix(path, Module), "/"))
		if err := publish(filepath.Join(proxy, path, "@v"), folder, module.Version{Path: path, Version: version}); err != nil {
			y.t.Fatal(err)
		}
	}
	y.t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	y.t.Setenv("GONOSUMDB", "*")
	y.t.Setenv("GOFLAGS", "-modcacherw")
	y.t.Setenv("GOMODCACHE", y.t.TempDir())
}

// publish writes a module's version into its folder of a module proxy.
func publish(versions, folder string, m module.Version) error {
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	archive, err := os.Create(filepath.Join(versions, m.Version+".zip"))
	if err != nil {
		return err
	}
	if err := errors.Join(zip.CreateFromDir(archive, m, folder), archive.Close()); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list":              m.Version + "\n",
		m.Version + ".info": `{"Version":"` + m.Version + `"}`,
		m.Version + ".mod":  "module " + m.Path + "\n\ngo 1.26\n",
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// TestInstall builds from a version, out of a module proxy on disk, whatever the project's go.mod is like.
func TestInstall(t *testing.T) {
	y := newYard(t)
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "go.mod"), []byte("no module\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	const version = "v0.3.1"
	y.proxy(version, clusterModule)
	y.recorded, y.version = "", version
	if p := y.ensure(); p.Origin != FromBuild {
		t.Errorf("%+v", p)
	}
	if p := y.ensure(); p.Origin != FromCache {
		t.Errorf("again: %+v", p)
	}
	y.version = "v0.3.2"
	_, err := y.Ensure(t.Context())
	if e, ok := errors.AsType[*report.Error](err); !ok || e.Where != clusterModule+"@v0.3.2" {
		t.Errorf("a version that does not exist: %v", err)
	}
}

// TestKilledBuild finds what a build left that was killed.
func TestKilledBuild(t *testing.T) {
	y := newYard(t)
	p := y.ensure()
	if err := os.Remove(p.Path); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(filepath.Dir(p.Path), "build", name)
	if err := os.MkdirAll(filepath.Dir(half), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(half, []byte("half of a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if p := y.ensure(); p.Origin != FromBuild {
		t.Errorf("%+v", p)
	}
	if isFile(half) {
		t.Error("the half of a program is still there")
	}
}

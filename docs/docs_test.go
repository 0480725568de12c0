// Package docs_test runs what the documentation shows.
//
// Every fenced block of README.md and of the pages in docs that is marked `sh` is run, page
// by page, each page in a folder of its own:
//
//	```sh             must succeed
//	```sh fails       must fail: the page shows an error
//	```sh background  runs until the next <!-- Ctrl-C --> or the end of the page, is then interrupted and must end
//	```go file=PATH   is written to PATH
//	```go from=PATH   is quoted: the file of the repository has these lines
//	```diff from=PATH is a change: it fits the file of the repository, or was made
//	<!-- start: project cluster -->  what the page takes for granted
//	<!-- long: REASON -->            make test-long-pages follows the page; REASON is what make test has instead
//
// Blocks with other marks are for reading only.
//
// A page takes for granted
//
//	project  what `slipway init` and `slipway create api` make: made once, and copied
//	cluster  a running cluster: one for all such pages, reset before each. A page that has real nodes join gets one of
//	         its own, since a reset keeps them and their images
//
// All pages are skipped if SLIPWAY_CLUSTER does not name the cluster program, and those with real nodes if SLIPWAY_NODE
// does not name theirs: no page compiles them.
package docs_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/testlimit"
	"github.com/slipway-dev/slipway/internal/testlock"
)

// managerPorts is the name of the ports at which all managers serve webhooks and health probes.
var managerPorts = testlock.PortName(9443)

// work is the folder of what pages share: the program under test, and a project that it has made.
var work string

func TestMain(m *testing.M) {
	if signal.Ignored(os.Interrupt) { // as in the background of a script, and what pages start would ignore it, too
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	dir, err := os.MkdirTemp("", "slipway-docs")
	if err != nil {
		panic(err)
	}
	work = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// slipway returns the folder of the program under test.
var slipway = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(work, "bin")
	if out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../cmd/slipway").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

// TestCommands follows the pages that share nothing, beside each other.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, page := range pagesWithCommands(t) {
		if page.sharesCluster() {
			continue
		}
		t.Run(page.name, func(t *testing.T) {
			page.skip(t)
			t.Parallel()
			newReader(t).follow(page)
		})
	}
}

// TestCommandsInCluster follows the pages that share a cluster, in turn.
func TestCommandsInCluster(t *testing.T) {
	t.Parallel()
	owner := newReader(t)
	for _, page := range pagesWithCommands(t) {
		if page.sharesCluster() {
			t.Run(page.name, func(t *testing.T) {
				page.skip(t)
				r := readerOf(t, owner.home)
				r.succeed("slipway cluster start && slipway cluster reset")
				r.follow(page)
			})
		}
	}
}

// pagesWithCommands are the pages to follow.
func pagesWithCommands(t *testing.T) (found []page) {
	t.Helper()
	for _, path := range append(pages(t), "../README.md") {
		if page := readPage(t, path); page.runs() {
			found = append(found, page)
		}
	}
	if len(found) == 0 {
		t.Fatal("no page shows a command")
	}
	return found
}

// skip leaves out a long page, and one that needs a program which is not there.
func (p page) skip(t *testing.T) {
	t.Helper()
	if p.long != "" && testing.Short() {
		t.Skip("long: make test-long-pages, since " + p.long)
	}
	skipWithoutPrograms(t)
	if p.needsNodes() && os.Getenv("SLIPWAY_NODE") == "" {
		t.Skip("no program of real nodes: export SLIPWAY_NODE=$(slipway cluster build --nodes real)")
	}
}

// skipWithoutPrograms leaves out what `make test` does, which builds programs: pages compile projects, and scripts of
// internal/cli check the same commands sooner.
func skipWithoutPrograms(t *testing.T) {
	t.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("no cluster program: export SLIPWAY_CLUSTER=$(slipway cluster build)")
	}
}

// reader follows a page as a newcomer would.
type reader struct {
	t       *testing.T
	ctx     context.Context // of commands that are waited for
	abort   context.CancelCauseFunc
	home    string
	dir     string
	env     []string
	running []*background
	release func() // gives back the ports of managers
}

// newReader returns a reader whose clusters are its own.
func newReader(t *testing.T) *reader {
	t.Helper()
	r := readerOf(t, t.TempDir())
	t.Cleanup(func() { r.bash("slipway cluster stop").Run() }) // fails when the page has stopped it itself
	return r
}

// readerOf returns a reader who finds the clusters whose state is in a folder, and leaves them running.
func readerOf(t *testing.T, clusters string) *reader {
	t.Helper()
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	r := &reader{t: t, home: home, dir: filepath.Join(home, "project"), release: func() {}}
	r.ctx, r.abort = context.WithCancelCause(t.Context())
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.env = append(env,
		"SLIPWAY_STATE="+filepath.Join(clusters, "state"),
		"KUBECONFIG="+filepath.Join(home, "kubeconfig"),
		"XDG_DATA_HOME="+filepath.Join(home, "data"),   // where setup-envtest installs, and cleans up
		"DOCKER_CONFIG="+filepath.Join(home, "docker"), // where login keeps accounts
	)
	return r
}

// environment is what the commands of all pages have.
func environment() ([]string, error) {
	bin, err := slipway()
	if err != nil {
		return nil, err
	}
	source, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	limits, err := testlimit.Environment(filepath.Join(work, "limits"))
	if err != nil {
		return nil, err
	}
	return append(append(os.Environ(), limits...),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"SLIPWAY_SOURCE="+source,
		"SLIPWAY_CHECK="+cmp.Or(os.Getenv("SLIPWAY_CHECK"), "off"),
		// The scaffolds of pages and of scripts are compiled once, in whichever folders they lie; see sharedBuilds in
		// internal/cli.
		"GOFLAGS=-trimpath -gcflags=all=-dwarf=false -ldflags=-w -vet=off", "CGO_ENABLED=0",
	), nil
}

// madeProject returns a project as a newcomer's first two commands make it. What it imports is compiled: pages that
// begin side by side would each compile it.
var madeProject = sync.OnceValues(func() (string, error) {
	env, err := environment()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(work, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	init := exec.Command("bash", "-euc", "slipway init --domain my.domain --repo my.domain/guestbook\n"+
		"slipway create api --group webapp --version v1 --kind Guestbook --resource --controller\n"+
		"go list -deps -test -export ./... >/dev/null\n")
	init.Dir, init.Env = dir, env
	if out, err := init.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make a project: %w\n%s", err, out)
	}
	return dir, nil
})

func (r *reader) follow(p page) {
	r.t.Helper()
	if !p.needsCluster() {
		r.env = append(r.env, "SLIPWAY_CLUSTER="+filepath.Join(r.home, "none")) // so that none is compiled
	}
	if p.start.has("project") {
		made, err := madeProject()
		if err == nil {
			err = os.CopyFS(r.dir, os.DirFS(made))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	if p.start.has("cluster") && !p.sharesCluster() {
		r.succeed("slipway cluster start")
	}
	for _, b := range p.blocks {
		switch b.mark {
		case "sh":
			r.succeed(b.text)
		case "sh fails":
			r.fail(b.text)
		case "sh background":
			r.inBackground(b.text)
		case "Ctrl-C":
			r.interrupt()
		default:
			if file, ok := b.file(); ok {
				r.write(file, b.text)
			}
		}
	}
}

func (r *reader) bash(script string) *exec.Cmd {
	ctx := r.ctx
	if r.t.Context().Err() != nil { // in Cleanup
		ctx = context.Background()
	}
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, r.env, testlimit.Hang
	return cmd
}

func (r *reader) succeed(script string) {
	r.t.Helper()
	r.t.Logf("$ %s", script)
	if out, err := r.bash(script).CombinedOutput(); err != nil {
		cause := context.Cause(r.ctx)
		r.t.Fail()
		r.interrupt() // prints much, and what is wrong is to stand last
		r.t.Fatalf("%s%v\n%s", script, errors.Join(err, cause), out)
	}
}

func (r *reader) fail(script string) {
	r.t.Helper()
	r.t.Logf("$ %s", script)
	out, err := r.bash(script).CombinedOutput()
	if cause := context.Cause(r.ctx); cause != nil {
		r.t.Fatalf("%v\n%s", cause, out)
	}
	if err == nil {
		r.t.Fatalf("succeeds, but the page shows an error\n%s", out)
	}
}

// background is a command in another terminal.
type background struct {
	script      string
	cmd         *exec.Cmd
	interrupted atomic.Bool
	early       error // that it ended by itself; known once it has
	ended       chan struct{}
	out         bytes.Buffer
}

// inBackground starts script. It is interrupted when the page says so or ends; if it ends before, what the page waits
// for next may never come. Cleanups run last first, so the cluster is still there then.
func (r *reader) inBackground(script string) {
	r.t.Helper()
	r.t.Logf("$ %s &", script)
	if runsManager(script) {
		r.release = testlock.Hold(r.t, managerPorts)
	}
	// As in a terminal, a whole group of processes is interrupted: make tells nobody.
	group := "set -m; " + strings.TrimSpace(script) + ` & trap 'kill -INT -- -$!' INT; wait $!; trap "" INT; wait $!`
	b := &background{script: script, cmd: exec.Command("bash", "-c", group), ended: make(chan struct{})}
	b.cmd.Dir, b.cmd.Env, b.cmd.WaitDelay = r.dir, r.env, testlimit.Hang
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.out
	if err := b.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		_ = b.cmd.Wait() // an interrupted command may exit with any status
		if !b.interrupted.Load() {
			b.early = fmt.Errorf("%s has ended by itself: %s", strings.TrimSpace(script), b.cmd.ProcessState)
			r.abort(b.early)
		}
		close(b.ended)
	}()
	if r.running == nil {
		r.t.Cleanup(r.interrupt)
	}
	r.running = append(r.running, b)
}

// interrupt does what Ctrl-C does, in every terminal.
func (r *reader) interrupt() {
	r.t.Helper()
	for _, b := range r.running {
		b.interrupted.Store(true)
		b.cmd.Process.Signal(os.Interrupt)
		select {
		case <-b.ended:
		case <-time.After(testlimit.Hang):
			b.cmd.Process.Kill()
			<-b.ended
			r.t.Errorf("%s does not end on an interrupt", b.script)
		}
		if b.early != nil {
			r.t.Error(b.early)
		}
		if r.t.Failed() {
			r.t.Logf("%s printed:\n%s", b.script, b.out.Bytes())
		}
	}
	r.running = r.running[:0]
	r.release()
}

func (r *reader) write(file, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

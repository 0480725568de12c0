// Package docs_test runs what the documentation shows.
//
// Every fenced block of README.md and of the pages in docs that is marked `sh` is run, page
// by page, each page in a folder of its own with its own cluster state:
//
//	```sh             must succeed
//	```sh fails       must fail: the page shows an error
//	```sh background  runs until the next <!-- Ctrl-C --> or the end of the page, is then interrupted and must end
//	```go file=PATH   is written to PATH
//	```go from=PATH   is quoted: the file of the repository has these lines
//	<!-- start: project cluster -->  what the page takes for granted
//
// Blocks with other marks are for reading only.
package docs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/gate"
)

// webhookPort is the name of the port at which all managers serve webhooks.
var webhookPort = gate.PortName(9443)

// slipway is the folder that holds the program under test.
var slipway string

func TestMain(m *testing.M) {
	if signal.Ignored(os.Interrupt) { // as in the background of a script, and what pages start would ignore it, too
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	dir, err := os.MkdirTemp("", "slipway-docs")
	if err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-o", dir, "../cmd/slipway")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	slipway = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func TestCommands(t *testing.T) {
	ran := 0
	for _, path := range append(pages(t), "../README.md") {
		page := readPage(t, path)
		if !page.runs() {
			continue
		}
		ran++
		// One after the other: pages side by side with the other packages' tests would starve each other.
		t.Run(pageName(path), func(t *testing.T) { newReader(t).follow(page) })
	}
	if ran == 0 {
		t.Fatal("no page shows a command")
	}
}

// reader follows a page as a newcomer would.
type reader struct {
	t       *testing.T
	ctx     context.Context // of commands that are waited for
	abort   context.CancelCauseFunc
	dir     string
	env     []string
	running []*background
}

func newReader(t *testing.T) *reader {
	t.Helper()
	home := t.TempDir()
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, dir: filepath.Join(home, "project")}
	r.ctx, r.abort = context.WithCancelCause(t.Context())
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(),
		"PATH="+slipway+string(os.PathListSeparator)+os.Getenv("PATH"),
		"SLIPWAY_SOURCE="+source,
		// The scaffolds of pages and of scripts are compiled once, in whichever folders they lie; see sharedBuilds in
		// internal/cli.
		"GOFLAGS=-trimpath -ldflags=-w -vet=off", "CGO_ENABLED=0",
		"SLIPWAY_STATE="+filepath.Join(home, "state"),
		"KUBECONFIG="+filepath.Join(home, "kubeconfig"),
		"XDG_DATA_HOME="+filepath.Join(home, "data"),   // where setup-envtest installs, and cleans up
		"DOCKER_CONFIG="+filepath.Join(home, "docker"), // where login keeps accounts
	)
	t.Cleanup(func() { r.bash("slipway cluster stop").Run() }) // fails when the page has stopped it itself
	return r
}

func (r *reader) follow(p page) {
	if p.serves() {
		gate.Hold(r.t, webhookPort)
	}
	for _, line := range p.start.script() {
		r.succeed(line)
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
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.dir, r.env, 10*time.Second
	return cmd
}

func (r *reader) succeed(script string) {
	r.t.Helper()
	r.t.Logf("$ %s", script)
	if out, err := r.bash(script).CombinedOutput(); err != nil {
		r.t.Fatalf("%v\n%s", errors.Join(err, context.Cause(r.ctx)), out)
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
	// As in a terminal, a whole group of processes is interrupted: make tells nobody.
	group := "set -m; " + strings.TrimSpace(script) + ` & trap 'kill -INT -- -$!' INT; wait $!; trap "" INT; wait $!`
	b := &background{script: script, cmd: exec.Command("bash", "-c", group), ended: make(chan struct{})}
	b.cmd.Dir, b.cmd.Env, b.cmd.WaitDelay = r.dir, r.env, 30*time.Second
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.out
	if err := b.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		err := b.cmd.Wait() // an interrupted command may exit with any status
		if !b.interrupted.Load() {
			b.early = fmt.Errorf("%s has ended by itself: %v", strings.TrimSpace(script), err)
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
		case <-time.After(30 * time.Second):
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

package plain

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/keeper"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
)

// TestMain is slipway-container's part that keeps a process, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == keeper.Part {
		syscall.Exit(keeper.Main()) // what a test would say at its end is not for the container
	}
	os.Exit(m.Run())
}

// begin runs a script as the program of a container.
func begin(t *testing.T, script string, change func(*runtimeapi.ContainerConfig)) *process {
	t.Helper()
	image := t.TempDir()
	put(t, filepath.Join(image, "bin", "tool"), "#!/bin/sh\nPATH=/usr/bin:/bin\n"+script, 0o755)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ends, presence, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // all that keep something of this test have ended then
		_ = presence.Close()
		_ = ends.SetReadDeadline(time.Now().Add(testlimit.Hang))
		if _, err := io.Copy(io.Discard, ends); err != nil {
			t.Errorf("something of it is left: %v", err)
		}
	})
	c := cri.Container{Dir: t.TempDir(), Args: []string{"tool", "one", "two words"}, Env: []string{"PATH=/bin", "NAME=value"}, WorkDir: "/work", Config: &runtimeapi.ContainerConfig{}}
	c.Image.Root, c.Image.Platform = image, runtime.GOOS+"/"+runtime.GOARCH
	if change != nil {
		change(c.Config)
	}
	prepared, err := New(Options{Server: "127.0.0.1:6443", Program: program, Presence: presence}).Prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := prepared.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Signal(syscall.SIGKILL) })
	return p.(*process)
}

// all reads a stream to its end.
func all(t *testing.T, f *os.File) string {
	t.Helper()
	text, err := io.ReadAll(f)
	if err != nil && !errors.Is(err, syscall.EIO) { // as a terminal's end is
		t.Error(err)
	}
	_ = f.Close()
	return string(text)
}

// TestProcess: a container's program has its arguments, environment, folder and input, and its outputs and status are
// told.
func TestProcess(t *testing.T) {
	p := begin(t, `echo "$#:$2:$NAME"; pwd; cat; echo problem >&2; exit 7`, func(c *runtimeapi.ContainerConfig) { c.Stdin = true })
	s := p.Streams()
	if _, err := io.WriteString(s.Stdin, "input\n"); err != nil {
		t.Fatal(err)
	}
	_ = s.Stdin.Close()
	status := make(chan int, 1)
	out, problems := bufio.NewReader(s.Stdout), bufio.NewReader(s.Stderr)
	for _, want := range []string{"2:two words:value\n", p.workload.first.Dir + "\n", "input\n"} {
		if got, err := out.ReadString('\n'); got != want || err != nil {
			t.Errorf("%q (%v), want %q", got, err, want)
		}
	}
	if got, err := problems.ReadString('\n'); got != "problem\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	go func() { status <- p.Wait() }()
	if got := <-status; got != 7 {
		t.Errorf("status %d", got)
	}
	if got := all(t, s.Stdout) + all(t, s.Stderr); got != "" {
		t.Errorf("after that: %q", got)
	}
}

// TestSignals: a program may end in its own way or be killed, and with it all that it has begun.
func TestSignals(t *testing.T) {
	p := begin(t, `trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done`, nil)
	out := bufio.NewReader(p.Streams().Stdout)
	if got, err := out.ReadString('\n'); got != "ready\n" {
		t.Fatal(got, err)
	}
	p.Signal(syscall.SIGTERM)
	if got, err := out.ReadString('\n'); got != "bye\n" {
		t.Error(got, err)
	}
	if got := p.Wait(); got != 5 {
		t.Errorf("status %d", got)
	}
	p.Signal(syscall.SIGTERM) // to nobody
	p = begin(t, `sleep 1000 & trap '' TERM; echo ready; wait`, nil)
	if got, err := bufio.NewReader(p.Streams().Stdout).ReadString('\n'); got != "ready\n" {
		t.Fatal(got, err)
	}
	p.Signal(syscall.SIGTERM)
	p.Signal(syscall.SIGKILL)
	if got := p.Wait(); got != killedStatus+int(syscall.SIGKILL) {
		t.Errorf("status %d", got)
	}
}

// TestEnter: another process has the container's environment and folder, its own input and status, and ends with the
// container or with who asked.
func TestEnter(t *testing.T) {
	p := begin(t, `case "$1" in one) echo ready; sleep 1000;; ask) cat; echo "$NAME" >&2; pwd; exit 3;; hang) echo hangs; sleep 1000;; esac`, nil)
	if got, err := bufio.NewReader(p.Streams().Stdout).ReadString('\n'); got != "ready\n" {
		t.Fatal(got, err)
	}
	if u, err := p.Usage(t.Context()); err != nil || u.Processes < 2 || u.Memory == 0 {
		t.Errorf("it uses %+v, %v", u, err)
	}
	var out, problems bytes.Buffer
	err := p.Enter(t.Context(), cri.Entering{Args: []string{"tool", "ask"}, Stdin: strings.NewReader("input\n"), Stdout: &out, Stderr: &problems})
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.ExitCode() != 3 || out.String() != "input\n"+p.workload.first.Dir+"\n" || problems.String() != "value\n" {
		t.Errorf("%v; %q and %q", err, out.String(), problems.String())
	}
	if err := p.Enter(t.Context(), cri.Entering{Args: []string{"no-such-tool"}}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("a program that there is not: %v", err)
	}
	hangs := func(ctx context.Context) (began *bufio.Reader, ended chan error) {
		r, w := io.Pipe()
		ended = make(chan error, 1)
		go func() {
			err := p.Enter(ctx, cri.Entering{Args: []string{"tool", "hang"}, Stdout: w, Stderr: w})
			_ = w.Close()
			ended <- err
		}()
		return bufio.NewReader(r), ended
	}
	ctx, leave := context.WithCancel(t.Context())
	began, left := hangs(ctx)
	if got, err := began.ReadString('\n'); got != "hangs\n" {
		t.Fatal(got, err)
	}
	leave()
	if err := <-left; err == nil {
		t.Error("who asked has gone, and it has ended by itself")
	}
	began, left = hangs(t.Context())
	if got, err := began.ReadString('\n'); got != "hangs\n" {
		t.Fatal(got, err)
	}
	p.Signal(syscall.SIGKILL)
	if got := p.Wait(); got != killedStatus+int(syscall.SIGKILL) {
		t.Errorf("status %d", got)
	}
	if err := <-left; err == nil {
		t.Error("its container has ended, and it has ended by itself")
	}
}

// TestTerminal: a program and those that enter may have a terminal of their own.
func TestTerminal(t *testing.T) {
	p := begin(t, `tty -s && echo terminal; read line; echo "read $line $TERM"; exit 4`, func(c *runtimeapi.ContainerConfig) { c.Tty, c.Stdin = true, true })
	terminal := p.Streams().Terminal
	out := bufio.NewReader(terminal)
	if got, err := out.ReadString('\n'); got != "terminal\r\n" {
		t.Fatal(got, err)
	}
	var entered bytes.Buffer
	if err := p.Enter(t.Context(), cri.Entering{Args: []string{"tool"}, Terminal: true, Stdin: strings.NewReader("within\n"), Stdout: &entered}); err == nil ||
		!strings.Contains(entered.String(), "read within xterm") {
		t.Errorf("%v, %q", err, entered.String())
	}
	if _, err := io.WriteString(terminal, "typed\n"); err != nil {
		t.Fatal(err)
	}
	status := make(chan int, 1)
	go func() { status <- p.Wait() }()
	if text := all(t, terminal) + ""; !strings.Contains(text, "read typed") && out.Buffered() == 0 {
		t.Errorf("%q", text)
	}
	if got := <-status; got != 4 {
		t.Errorf("status %d", got)
	}
}

// TestProgramThatCannotRun: what is no program is told, and nothing is left.
func TestProgramThatCannotRun(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Program: program, Presence: os.Stderr})
	w := &workload{starter: s}
	w.first = keeper.Process{Program: filepath.Join(t.TempDir(), "absent"), Args: []string{"absent"}, Dir: "/"}
	if _, err := w.Start(); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a program that does not exist: %v", err)
	}
	s.options.Program = filepath.Join(t.TempDir(), "no-keeper")
	if _, err := w.Start(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a keeper: %v", err)
	}
}

// TestPodsHaveThisMachinesAddress, and what listens on the loopback alone is reached, too.
func TestPodsHaveThisMachinesAddress(t *testing.T) {
	pod, err := Network{}.Add(nil)
	if errors.Is(err, ErrNoAddress) {
		t.Skip(err)
	}
	if err != nil || !pod.Address.Is4() || pod.Address.IsLoopback() {
		t.Fatalf("%+v, %v", pod, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	conn, err := New(Options{}).Dial(t.Context(), pod, port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	_ = l.Close()
	if _, err := New(Options{}).Dial(t.Context(), &podnet.Pod{Address: netip.MustParseAddr("127.0.0.1")}, port); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("where nothing listens: %v", err)
	}
	Network{}.Remove(pod)
}

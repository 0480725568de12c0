//go:build unix

package keeper_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/keeper"
)

// TestMain is the keeper too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == keeper.Part {
		os.Exit(keeper.Main())
	}
	os.Exit(m.Run())
}

// kept is a shell script with its keeper.
type kept struct {
	cmd      *exec.Cmd
	orders   *os.File
	out      *bufio.Reader
	presence *os.File
	failure  string
}

func keep(t *testing.T, p keeper.Process) *kept {
	t.Helper()
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	theirs, orders := pipe()
	failure, status := pipe()
	presence, held := pipe()
	out, stdout := pipe()
	k := &kept{cmd: exec.Command(os.Args[0], keeper.Part), orders: orders, out: bufio.NewReader(out), presence: presence}
	k.cmd.Stdout, k.cmd.Stderr, k.cmd.ExtraFiles = stdout, os.Stderr, []*os.File{theirs, status, held}
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{theirs, status, held, stdout} {
		_ = f.Close()
	}
	if err := json.NewEncoder(orders).Encode(p); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(failure)
	if err != nil {
		t.Fatal(err)
	}
	k.failure = string(text)
	t.Cleanup(func() { _ = orders.Close() })
	return k
}

func script(text string) keeper.Process {
	return keeper.Process{Program: "/bin/sh", Args: []string{"sh", "-c", text}, Env: os.Environ(), Dir: "/"}
}

func (k *kept) line(t *testing.T) string {
	t.Helper()
	line, err := k.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// wait returns the exit status once nobody holds the keeper's file any more.
func (k *kept) wait(t *testing.T) int {
	t.Helper()
	_ = k.presence.SetReadDeadline(time.Now().Add(testlimit.Hang))
	if _, err := io.ReadAll(k.presence); err != nil {
		t.Fatal("it does not end:", err)
	}
	_ = k.cmd.Wait()
	return k.cmd.ProcessState.ExitCode()
}

func TestStatus(t *testing.T) {
	if got := keep(t, script("exit 3")).wait(t); got != 3 {
		t.Errorf("exit 3: %d", got)
	}
	if got := keep(t, script("kill -9 $$")).wait(t); got != 137 {
		t.Errorf("a signal: %d", got)
	}
	none := keep(t, keeper.Process{Program: "/nowhere", Args: []string{"nowhere"}, Dir: "/"})
	if !strings.Contains(none.failure, "run nowhere: no such file") {
		t.Errorf("no program: %q", none.failure)
	}
	none.wait(t)
}

func TestOrders(t *testing.T) {
	k := keep(t, script(`trap 'echo asked; exit 4' TERM; echo begun; while :; do sleep 0.01; done`))
	k.line(t)
	fmt.Fprintf(k.orders, "%d\n", int(syscall.SIGTERM))
	if got := k.line(t); got != "asked" {
		t.Errorf("it says %q", got)
	}
	if got := k.wait(t); got != 4 {
		t.Errorf("status %d", got)
	}
}

// TestNothingIsLeft: whether the process ends, or whoever has ordered it is gone, what it has begun ends with it.
func TestNothingIsLeft(t *testing.T) {
	const begin = `(trap '' TERM HUP; echo $$; exec sleep 1000) & `
	for name, end := range map[string]struct {
		script string
		how    func(*kept)
	}{
		"it ends":         {"sleep 1000 & echo $!; exit 0", nil},
		"nobody orders":   {begin + "exec sleep 1000", func(k *kept) { _ = k.orders.Close() }},
		"it is killed":    {begin + "exec sleep 1000", func(k *kept) { fmt.Fprintf(k.orders, "%d\n", int(syscall.SIGKILL)) }},
		"the keeper ends": {"echo $$; exec sleep 1000", func(k *kept) { _ = k.cmd.Process.Kill() }},
		"it left":         {`setsid sh -c 'setsid sleep 1000 & echo $!' & wait; exit 0`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS != "linux" && (name == "it left" || name == "the keeper ends") {
				t.Skip("Linux alone knows of them")
			}
			k := keep(t, script(end.script))
			var pid int
			if _, err := fmt.Sscan(k.line(t), &pid); err != nil {
				t.Fatal(err)
			}
			if end.how != nil {
				end.how(k)
			}
			k.wait(t)
			tick, late := time.Tick(time.Millisecond), time.After(testlimit.Hang)
			for syscall.Kill(pid, 0) == nil {
				select {
				case <-tick:
				case <-late:
					t.Fatalf("process %d is left", pid)
				}
			}
		})
	}
}

// TestBusy: a program that another process still has open to write, as one that was forked a moment ago, is run when
// that is over.
func TestBusy(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(program, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = writer.Close() })
	k := keep(t, keeper.Process{Program: program, Args: []string{"program"}, Env: os.Environ(), Dir: "/"})
	if k.failure != "" {
		t.Fatal(k.failure)
	}
	if status := k.wait(t); status != 3 {
		t.Errorf("status %d", status)
	}
}

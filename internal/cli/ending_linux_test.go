package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// asCommand has the test's own program be the command, for tests that send it signals.
const asCommand = "SLIPWAY_TEST_ENDING"

// commandLines are those of all commands that do something, without arguments.
func commandLines(cmd *cobra.Command) (all [][]string) {
	for _, below := range cmd.Commands() {
		all = append(all, commandLines(below)...)
	}
	if len(all) == 0 {
		all = [][]string{strings.Fields(cmd.CommandPath())[1:]}
	}
	return all
}

// fullPipe is a pipe that takes no byte more, so that a command stops at its first word.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	read, write := os.NewFile(uintptr(ends[0]), "read"), os.NewFile(uintptr(ends[1]), "write")
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	if err := unix.SetNonblock(ends[1], true); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := unix.Write(ends[1], make([]byte, 1<<10)); errors.Is(err, unix.EAGAIN) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SetNonblock(ends[1], false); err != nil {
		t.Fatal(err)
	}
	return write
}

// stuck waits until a process stands at a write, as one to a full pipe. It reports whether the process still runs.
func stuck(t *testing.T, pid int, ended <-chan error) bool {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		calls, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range calls {
			if text, err := os.ReadFile(name); err == nil && bytes.HasPrefix(text, fmt.Appendf(nil, "%d ", unix.SYS_WRITE)) {
				return true
			}
		}
		select {
		case <-ended:
			return false
		case <-t.Context().Done():
			t.Fatal("it neither ends nor writes")
		case <-ticker.C:
		}
	}
}

// TestEveryVerbEnds: each command ends within a second of a signal, also where it waits for what never comes and never
// looks at its context: here for a reader of its output.
func TestEveryVerbEnds(t *testing.T) {
	if os.Getenv(asCommand) != "" {
		env := Process()
		env.Args = strings.Fields(os.Getenv(asCommand))
		os.Exit(Main(context.Background(), env))
	}
	if _, err := os.ReadFile("/proc/self/syscall"); err != nil {
		t.Skip(err)
	}
	lines := commandLines((&invocation{Env: Env{Getenv: os.Getenv}}).root())
	if len(lines) < 30 {
		t.Fatalf("only %d commands: %v", len(lines), lines)
	}
	var begun, busy atomic.Int32
	t.Run("all", func(t *testing.T) {
		for i, line := range lines {
			sent := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[i%3]
			t.Run(strings.Join(line, " "), func(t *testing.T) {
				t.Parallel()
				begun.Add(1)
				cmd, pipe := command(t, line...), fullPipe(t)
				cmd.Stdout, cmd.Stderr = pipe, pipe
				began := time.Now()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				if !stuck(t, cmd.Process.Pid, ended) {
					if !cmd.ProcessState.Success() {
						t.Errorf("it has failed without a word: %v", cmd.ProcessState)
					}
					return // it had nothing to do
				}
				busy.Add(1)
				limit := 3*time.Second + 10*time.Since(began) // where processes are slow to start, they are slow to end
				asked := time.Now()
				if err := cmd.Process.Signal(sent); err != nil {
					t.Fatal(err)
				}
				select {
				case <-ended:
				case <-time.After(testlimit.Hang):
					t.Fatalf("it is deaf to %v", sent)
				}
				if took := time.Since(asked); took > limit && took > 10*othersTake(t) {
					t.Errorf("it took %v to end after %v", took, sent)
				}
				if code := cmd.ProcessState.ExitCode(); code != 130 && !cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
					t.Errorf("its exit code is %d", code)
				}
			})
		}
	})
	if busy.Load() < begun.Load()-2 {
		t.Errorf("only %d of %d commands were busy", busy.Load(), begun.Load())
	}
}

// othersTake is how long a command takes now that is not disturbed.
func othersTake(t *testing.T) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := command(t, "version").Run(); err != nil {
		t.Error(err)
	}
	return time.Since(begin)
}

// command is a process of the command in an empty folder, whose user has nothing.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestEveryVerbEnds$")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + home, "PATH=" + home, "TMPDIR=" + home, "SLIPWAY_CLUSTER=" + filepath.Join(home, "none"), asCommand + "=" + strings.Join(args, " ")}
	return cmd
}

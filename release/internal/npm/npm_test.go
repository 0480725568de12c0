package npm_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/internal/archive"
	"github.com/slipway-dev/slipway/release/internal/npm"
)

// program stands for slipway: it prints its arguments and the program beside it, waits for a signal if it is asked to,
// and ends with a status of its own.
const program = `#!/bin/sh
echo "slipway $*, beside $(ls "$(dirname "$0")" | tr '\n' ' ')"
[ "$1" = wait ] || exit 7
trap 'echo handled; exit 9' TERM
echo ready
read line
`

// install packs the packages and installs them with npm, which reaches no registry.
func install(t *testing.T) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a script of Unix")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not here")
		}
	}
	dir = t.TempDir()
	platform, err := npm.Platform("v0.1.0", runtime.GOOS, runtime.GOARCH, []archive.Entry{{Name: npm.Folder + names.File("slipway", runtime.GOOS), Executable: true, Data: []byte(program)},
		{Name: npm.Folder + "slipway-check", Executable: true, Data: []byte(program)}})
	if err != nil {
		t.Fatal(err)
	}
	root, err := npm.Root("v0.1.0", [][2]string{{runtime.GOOS, runtime.GOARCH}, {"plan9", "386"}}, []byte("free"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"install", "--offline", "--no-audit", "--no-fund", "--cache=" + t.TempDir()}
	for _, p := range []npm.Package{platform, root} {
		args = append(args, write(t, dir, p))
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "npm", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func write(t *testing.T, dir string, p npm.Package) (path string) {
	t.Helper()
	path = filepath.Join(dir, p.File)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(archive.TarGz(f, time.Unix(0, 0), p.Entries), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInstalled: the command that npm installs hands over arguments, the status, and a signal.
func TestInstalled(t *testing.T) {
	dir := install(t)
	command := filepath.Join(dir, "node_modules", ".bin", "slipway")
	out, err := exec.CommandContext(t.Context(), command, "generate", "a b").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 || string(out) != "slipway generate a b, beside slipway slipway-check \n" {
		t.Errorf("%v: %q", err, out)
	}
	signalled(t, command)
	if err := os.RemoveAll(filepath.Join(dir, "node_modules", "@slipway-dev")); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), command).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(said), "--include=optional") {
		t.Errorf("without the platform's package: %v: %s", err, said)
	}
}

// signalled ends the command by a signal, which the program handles.
func signalled(t *testing.T, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, "wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() // nothing is written: the program waits for the signal
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if lines.Text() != "ready" {
			continue
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 9 || !strings.Contains(said.String(), "handled") {
		t.Errorf("%v: %s", err, said.String())
	}
}

// TestNames: platforms are called as Node.js calls them, and files as npm does.
func TestNames(t *testing.T) {
	got := strings.Join(npm.Files("v0.1.0", [][2]string{{"windows", "amd64"}, {"darwin", "arm64"}}), " ")
	if got != "slipway-0.1.0.tgz slipway-dev-win32-x64-0.1.0.tgz slipway-dev-darwin-arm64-0.1.0.tgz" {
		t.Error(got)
	}
}

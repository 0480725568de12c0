package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	naming "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/release/internal/record"
)

// TestKilled kills the command while it compiles the second program, and lets it go on.
func TestKilled(t *testing.T) {
	dir := newRepository(t)
	target := "linux/" + runtime.GOARCH
	args := []string{"-targets", target, "-programs", "slipway-check slipway-codegen"}
	kill(t, dir, "compiling slipway-check", append([]string{"-dir", dir, "-version", "v0.1.0"}, args...))
	if found := names(t, filepath.Join(dir, "dist", "v0.1.0")); len(found) > 0 {
		t.Errorf("an unfinished release has %v", found)
	}
	programs := filepath.Join(work(t, dir), "programs", "linux_"+runtime.GOARCH)
	if found := names(t, programs); len(found) != 1 || found[0] != "slipway" {
		t.Errorf("compiled programs: %v", found)
	}
	want := sum(t, programs, "slipway")
	code, said := release(t, dir, args...)
	if code != 0 || !strings.Contains(said, "kept slipway for "+target) || !strings.Contains(said, "made slipway-check for "+target) || sum(t, programs, "slipway") != want {
		t.Errorf("%d\n%s", code, said)
	}
	again(t, dir, args)
}

// again damages a file and wants it, and nothing else, to be made again.
func again(t *testing.T, dir string, args []string) {
	t.Helper()
	dist := filepath.Join(dir, "dist", "v0.1.0")
	archive := naming.Archive("v0.1.0", "linux", runtime.GOARCH)
	whole := sum(t, dist, archive)
	write(t, filepath.Join(dist, archive), "half")
	write(t, filepath.Join(dist, "stray"), "of another run")
	code, said := release(t, dir, args...)
	if code != 0 || strings.Count(said, "made ") != 1 || !strings.Contains(said, "made "+archive) || sum(t, dist, archive) != whole {
		t.Errorf("%d\n%s", code, said)
	}
	if _, err := os.Stat(filepath.Join(dist, "stray")); err == nil {
		t.Error("a file of another run is in the release")
	}
	unfinished := filepath.Join(work(t, dir), "unfinished")
	if err := filepath.WalkDir(unfinished, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != unfinished {
			t.Errorf("%s is left", path)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func sum(t *testing.T, dir, name string) record.Sum {
	t.Helper()
	sum, err := record.SumOf(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// kill runs the command as a process and kills it when it prints a text.
func kill(t *testing.T, dir, text string, args []string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), own, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asCommand+"=1")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), text) {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), text) {
		t.Fatalf("it was not killed: %v\n%s", err, said.String())
	}
}

// TestRefused: a changed folder, wrong versions, platforms, programs and keys.
func TestRefused(t *testing.T) {
	dir := newRepository(t)
	secret := "bm90IGEgc2VlZA=="
	for _, c := range []struct {
		key  string
		args []string
		want string
	}{
		{"", []string{"-version", "v1"}, "--version"},
		{"", []string{"-version", "v1.0.0+a"}, "--version"},
		{"", []string{"-targets", "plan9/386"}, "plan9/386"},
		{"", []string{"-programs", "slipway-sails"}, "slipway-sails"},
		{"", []string{"-public-key", "AAAA"}, "--public-key"},
		{secret, nil, keyVariable},
	} {
		t.Setenv(keyVariable, c.key)
		code, said := release(t, dir, c.args...)
		if code == 0 || !strings.Contains(said, c.want) || c.key != "" && strings.Contains(said, c.key) {
			t.Errorf("%v: %d\n%s", c.args, code, said)
		}
	}
	write(t, filepath.Join(dir, "README.md"), "changed")
	write(t, filepath.Join(dir, "cmd", "new.go"), "package cmd\n")
	code, said := release(t, dir)
	if code == 0 || !strings.Contains(said, "README.md") || !strings.Contains(said, "cmd/new.go") {
		t.Errorf("%d\n%s", code, said)
	}
}

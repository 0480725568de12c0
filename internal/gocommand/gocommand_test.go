//go:build linux

package gocommand_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
)

// below lists the processes whose command line names a folder.
func below(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file) // what has ended meanwhile does not exist
		if err == nil && strings.Contains(string(text), dir) {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found
}

// TestInterrupt interrupts the go command while it compiles the standard library, and wants no compiler to be left.
func TestInterrupt(t *testing.T) {
	temp, dir := t.TempDir(), t.TempDir()
	t.Setenv("GOTMPDIR", temp)
	t.Setenv("GOCACHE", filepath.Join(temp, "cache"))
	for name, text := range map[string]string{"go.mod": "module example.com/a\n\ngo 1.24\n", "main.go": "package main\n\nimport _ \"net/http\"\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env, err := gocommand.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	compiling := make(chan struct{})
	go func() {
		defer close(compiling)
		for tick := time.Tick(time.Millisecond); len(below(t, temp)) == 0 && ctx.Err() == nil; {
			<-tick // until a compiler is there, and no longer
		}
		cancel()
	}()
	err = gocommand.Command{Dir: dir, Env: env.With(), Args: []string{"build", "-o", filepath.Join(dir, "a"), "."}}.Run(ctx)
	<-compiling
	left := below(t, temp)
	tick := time.Tick(10 * time.Millisecond)
	for end := time.Now().Add(5 * time.Second); len(left) > 0 && time.Now().Before(end); left = below(t, temp) {
		<-tick // a process that was killed takes a moment to end; a compiler that was not takes longer
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	for _, line := range left {
		t.Errorf("it is left: %.200s", line)
	}
}

// TestExplain: a disk without room is told from what the go command says, with the folder that has the least.
func TestExplain(t *testing.T) {
	env, err := gocommand.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e := env.Explain("./main.go:3: undefined: x", ""); e != nil {
		t.Errorf("sources that do not compile: %v", e)
	}
	e := env.Explain("go: writing stat cache: write /x: "+syscall.ENOSPC.Error(), t.TempDir())
	if e == nil || !errors.Is(e, syscall.ENOSPC) || e.Where == "" || !strings.Contains(e.Hint, "MiB") {
		t.Errorf("a full disk: %v", e)
	}
}

// TestHomeless: without a home folder it is told what the go command is without.
func TestHomeless(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "GOCACHE", "GOMODCACHE", "GOPATH"} {
		t.Setenv(name, "")
	}
	_, err := gocommand.Read(t.Context())
	if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.Hint, "HOME") {
		t.Errorf("got %v", err)
	}
}

// TestForeign: variables of others pass, and the go command's own do not unless they are the user's to choose.
func TestForeign(t *testing.T) {
	t.Setenv("SLIPWAY_FOREIGN", "1")
	t.Setenv("GOAMD64", "v4")
	t.Setenv("CC", "x")
	t.Setenv("GOPRIVATE", "example.com")
	t.Setenv("GOFLAGS", "-modcacherw -tags=x -buildvcs=false -mod=readonly -mod=mod -vet=off")
	env, err := gocommand.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := "\n" + strings.Join(env.With(), "\n") + "\n"
	for text, want := range map[string]bool{"SLIPWAY_FOREIGN=1": true, "GOAMD64=v4": false, "GOAMD64=v1": true, "CC=x": false, "GOPRIVATE=example.com": true,
		"GOFLAGS=-modcacherw": true, "GOENV=off": true} {
		if got := bytes.Contains([]byte(all), []byte("\n"+text+"\n")); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if !slices.Equal(env.Ignored, []string{"-tags=x", "-mod=mod"}) {
		t.Errorf("ignored: %q", env.Ignored)
	}
}

// TestAwaited: a go command that takes its time after an interrupt is interrupted at once, and the command that ends
// says that it waits for it.
func TestAwaited(t *testing.T) {
	dir := t.TempDir()
	stubborn := "#!/bin/sh\ntrap 'touch " + dir + "/interrupted' INT\ntouch " + dir + "/began\nwhile ! test -e " + dir + "/enough; do sleep 0.01; done\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(stubborn), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for tick := time.Tick(time.Millisecond); ctx.Err() == nil; <-tick {
			if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
				cancel()
			}
		}
	}()
	waiting := make(chan []string, 9)
	err := ending.Run(ctx, gocommand.Command{Dir: dir, Args: []string{"build", "./cmd"}}.Run, func(what []string) {
		waiting <- what
		if err := os.WriteFile(filepath.Join(dir, "enough"), nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ending.ErrCut) {
		t.Errorf("got %v", err)
	}
	if what := <-waiting; !slices.Equal(what, []string{"go build"}) {
		t.Errorf("it waits for %v", what)
	}
	if _, err := os.Stat(filepath.Join(dir, "interrupted")); err != nil {
		t.Error(err)
	}
}

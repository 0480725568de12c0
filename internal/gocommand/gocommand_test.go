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

// running reports whether a process has a text in its command line, whose arguments end with zero bytes.
func running(t *testing.T, text string) bool {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(file string) bool {
		line, err := os.ReadFile(file) // what has ended meanwhile does not exist
		return err == nil && strings.Contains(string(line), text)
	})
}

// TestInterrupt interrupts the go command while it compiles, and wants no compiler to be left. A program that never
// ends by itself stands in for the compiler.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	compiler := filepath.Join(dir, "compiler")
	for name, text := range map[string]string{"go.mod": "module example.com/a\n\ngo 1.24\n", "main.go": "package main\n\nfunc main() {}\n",
		"compiler": "#!/bin/sh\nwhile :; do sleep 1; done\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env, err := gocommand.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for tick := time.Tick(time.Millisecond); !running(t, "sh\x00"+compiler) && ctx.Err() == nil; {
			<-tick // until the compiler is there
		}
	}()
	err = gocommand.Command{Dir: dir, Env: env.With(), Args: []string{"build", "-toolexec=" + compiler, "."}}.Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	for tick := time.Tick(time.Millisecond); running(t, "sh\x00"+compiler); {
		<-tick // what was killed takes a moment to end
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

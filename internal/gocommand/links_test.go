package gocommand_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// space is a workspace of two modules, with a file beside it.
const space = `
-- out --
-- space/sums --
-- space/go.work --
go 1.24

use ./op
use ./other
-- space/op/go.mod --
module example.com/op

go 1.24
-- space/op/op.go --
package op
-- space/other/go.mod --
module example.com/other

go 1.24
-- space/other/other.go --
package other
`

// unpack writes an archive into a new folder, and makes a link "name -> target" in it.
func unpack(t *testing.T, archive, link string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	name, target, _ := strings.Cut(link, " -> ")
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	return dir
}

// TestLinks: a file that the go command may write to is not a link out of the workspace, or out of the module that is
// in none.
func TestLinks(t *testing.T) {
	for _, test := range []struct {
		link    string
		work    string // GOWORK
		args    []string
		refused bool
	}{
		{"space/op/go.sum -> ../../out", "", nil, true},
		{"space/op/go.sum -> ../../none", "", nil, true},
		{"space/go.work.sum -> ../out", "", nil, true},
		{"space/go.work.sum -> ../out", "auto", nil, true},
		{"space/go.work.sum -> ../out", "off", nil, false},
		{"space/op/go.sum -> ../sums", "", nil, false},
		{"space/op/go.sum -> ../sums", "off", nil, true},
		{"space/other/go.sum -> ../../out", "", nil, false},
		{"space/other/go.sum -> ../../out", "", []string{"list", "-C", "../other", "./..."}, true},
		{"space/other/go.sum -> ../../out", "", []string{"list", "-C=../other", "./..."}, true},
	} {
		t.Run(test.link, func(t *testing.T) {
			dir := unpack(t, space, test.link)
			args := test.args
			if args == nil {
				args = []string{"list", "./..."}
			}
			var out bytes.Buffer
			err := gocommand.Command{Dir: filepath.Join(dir, "space", "op"), Env: append(os.Environ(), "GOWORK="+test.work), Args: args, Stdout: &out}.Run(t.Context())
			if _, refused := errors.AsType[*safefs.OutsideError](err); refused != test.refused || !refused && err != nil {
				t.Errorf("GOWORK=%s go %s: %v", test.work, strings.Join(args, " "), err)
			}
			if test.refused == (out.Len() > 0) {
				t.Errorf("it printed %q", out.String())
			}
		})
	}
}

// TestCopies: a command that gets copies changes no go.mod, and may have links out of the module.
func TestCopies(t *testing.T) {
	const undirected = "-- out --\n-- op/go.mod --\nmodule example.com/op\n-- op/op.go --\npackage op\n"
	dir := filepath.Join(unpack(t, undirected, "op/go.sum -> ../out"), "op")
	list := func(copies gocommand.Copies) string {
		t.Helper()
		// without a go directive go.mod is completed
		command := gocommand.Command{Dir: dir, Env: append(os.Environ(), "GOWORK=off", "GOPROXY=off"), Args: []string{"list", "-mod=mod", "./..."}, Copies: copies}
		if err := command.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := list(gocommand.Copies{Mod: filepath.Join(dir, "go.mod")}); text != "module example.com/op\n" {
		t.Errorf("go.mod became %q", text)
	}
	if err := os.Remove(filepath.Join(dir, "go.sum")); err != nil {
		t.Fatal(err)
	}
	if text := list(gocommand.Copies{}); !strings.Contains(text, "\ngo ") {
		t.Errorf("the test is of no use: without copies go.mod is %q", text)
	}
}

// TestStrangersGo: a go command on PATH that another user may change is not run.
func TestStrangersGo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is looked at on this system")
	}
	bin := t.TempDir()
	ran := filepath.Join(t.TempDir(), "ran")
	if err := errors.Join(os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755), os.Chmod(bin, 0o777)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if _, err := gocommand.Read(t.Context()); !errors.Is(err, process.ErrWritable) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}

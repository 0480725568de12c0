//go:build unix

package generate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestHostileTree: whatever is in a project besides Go code.
func TestHostileTree(t *testing.T) {
	good := map[string]string{"api/v1/types.go": apiHead + kind("\tF string `json:\"f\"`")}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string // part of a finding or an error; "" for none
	}{
		"link to itself":       {func(t *testing.T, dir string) { link(t, "x.go", dir, "api/v1/x.go") }, "too many levels of symbolic links"},
		"link to nothing":      {func(t *testing.T, dir string) { link(t, "gone", dir, "api/v1/x.go") }, "no such file"},
		"folder in itself":     {func(t *testing.T, dir string) { link(t, "..", dir, "api/v1/more") }, ""},
		"folder as a Go file":  {func(t *testing.T, dir string) { write(t, dir, "api/v1/x.go/readme", "") }, ""},
		"linked folder":        {func(t *testing.T, dir string) { link(t, "..", dir, "api/v1/x.go") }, ""},
		"named pipe":           {func(t *testing.T, dir string) { pipe(t, dir, "api/v1/x.go") }, ""},
		"endless device":       {func(t *testing.T, dir string) { link(t, "/dev/zero", dir, "api/v1/x.go") }, ""},
		"pipe as go.work":      {func(t *testing.T, dir string) { pipe(t, dir, "go.work") }, ""},
		"pipe as go.mod":       {func(t *testing.T, dir string) { pipe(t, dir, "api/go.mod") }, ""},
		"huge file":            {func(t *testing.T, dir string) { sparse(t, dir, "api/v1/x.go") }, "too large"},
		"file for the output":  {func(t *testing.T, dir string) { write(t, dir, "config", "") }, "not a directory"},
		"folder for an output": {func(t *testing.T, dir string) { write(t, dir, "config/crd/bases/example.com_widgets.yaml/x", "") }, "is a directory"},
		"damaged go.mod":       {func(t *testing.T, dir string) { write(t, dir, "go.mod", "module (\x00") }, "go.mod"},
		"empty go.mod":         {func(t *testing.T, dir string) { write(t, dir, "go.mod", "") }, "no module directive"},
		"unreadable file":      {func(t *testing.T, dir string) { forbid(t, dir, "api/v1/x.go", 0) }, "api/v1/x.go:0:0: cannot be read"},
		"unreadable folder": {func(t *testing.T, dir string) {
			write(t, dir, "secret/x.go", "package x\n")
			forbid(t, dir, "secret", 0)
		}, "secret"},
		"read-only folder": {func(t *testing.T, dir string) {
			write(t, dir, "config/crd/bases/keep.txt", "")
			forbid(t, dir, "config/crd/bases", 0o555)
		}, "permission denied"},
		"read-only code": {func(t *testing.T, dir string) { forbid(t, dir, "api/v1", 0o555) }, "permission denied"},
		"deep folders": {func(t *testing.T, dir string) {
			write(t, dir, strings.Repeat("d/", 900)+"d.go", "package d\n")
		}, ""},
		"link among folders": {func(t *testing.T, dir string) {
			write(t, dir, "a/b/b.go", "package b\n")
			link(t, "../..", dir, "a/b/up")
			link(t, "a", dir, "again")
		}, ""},
		"replaced by itself": {func(t *testing.T, dir string) {
			more(t, dir, "go.mod", "\nrequire example.com/project/v2 v2.0.0\nreplace example.com/project/v2 => .\n")
		}, ""},
		"replaced by nothing": {func(t *testing.T, dir string) {
			more(t, dir, "go.mod", "\nrequire example.com/q v1.0.0\nreplace example.com/q => ./none\n")
			write(t, dir, "q/q.go", "package q\n\nimport _ \"example.com/q\"\n")
		}, "q/q.go:3:10: "},
		"many requirements": {func(t *testing.T, dir string) {
			var b strings.Builder
			for i := range 100000 {
				fmt.Fprintf(&b, "require example.com/m%d v1.0.0\n", i)
			}
			more(t, dir, "go.mod", b.String())
		}, ""},
		"many workspaces": {func(t *testing.T, dir string) {
			write(t, dir, "go.work", "go 1.26\nuse .\n"+strings.Repeat("use ./none\n", 100000))
		}, "none/go.mod"},
		"workspace of nothing": {func(t *testing.T, dir string) { write(t, dir, "go.work", "go 1.26\nuse ./none\n") }, "none/go.mod"},
		"long chain of imports": {func(t *testing.T, dir string) {
			for i := range 1000 {
				write(t, dir, fmt.Sprintf("c/c%d/c.go", i), fmt.Sprintf("package c%d\n\nimport _ \"example.com/project/c/c%d\"\n", i, (i+1)%1000))
			}
		}, "import cycle: example.com/project/c/c0 → "},
		"imports of nothing": {func(t *testing.T, dir string) {
			var b strings.Builder
			for i := range 20000 {
				fmt.Fprintf(&b, "import _ \"example.com/none/p%d\"\n", i)
			}
			write(t, dir, "c/c.go", "package c\n\n"+b.String())
		}, "c/c.go:20002:10: "},
		"all import all": {func(t *testing.T, dir string) {
			var all strings.Builder
			for i := range 100 {
				fmt.Fprintf(&all, "import _ \"example.com/project/c/c%d\"\n", i)
			}
			for i := range 100 {
				write(t, dir, fmt.Sprintf("c/c%d/c.go", i), "package c\n\n"+all.String())
			}
		}, "import cycle: "},
		"damaged nested one": {func(t *testing.T, dir string) {
			write(t, dir, "sub/go.mod", "module")
			write(t, dir, "sub/x.go", "package x")
		}, ""}, // it is passed over
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t)
			for name, content := range good {
				write(t, dir, name, content)
			}
			c.prepare(t, dir)
			result, err := endIn(t, dir)
			got := messages(result)
			if err != nil {
				got += err.Error()
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %.1000q, want %q", got, c.want)
			}
			if err != nil {
				result.Findings = append(result.Findings, report.Finding{Fatal: true})
			}
			noLeftovers(t, dir, result)
		})
	}
}

func link(t *testing.T, target, dir, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// forbid sets the permissions of a file or folder, until the test ends. It skips the
// test where they do not count, as for root.
func forbid(t *testing.T, dir, name string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		write(t, dir, name, "package v1\n")
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(path, 0o755) }) // the folder goes anyway
	if unix.Access(path, unix.W_OK) == nil {
		t.Skip("permissions do not count for this user")
	}
}

func more(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(before, content...), 0o644); err != nil {
		t.Fatal(err)
	}
}

func pipe(t *testing.T, dir, name string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sparse(t *testing.T, dir, name string) {
	t.Helper()
	write(t, dir, name, "")
	if err := os.Truncate(filepath.Join(dir, name), 100<<30); err != nil {
		t.Skip(err)
	}
}

package tools

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestLinkTools: links come, stay as they are the second time, and go.
func TestLinkTools(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no links to tools")
	}
	s, told := operationtest.Begin(t, t.TempDir())
	operationtest.Write(t, s.Dir, "Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.20.1\nLOCALBIN ?= $(shell pwd)/bin\n")
	if _, err := LinkTools(s, "", false); err != nil {
		t.Fatal(err)
	}
	made := operationtest.Of[report.File](told)
	if !slices.ContainsFunc(made, func(f report.File) bool {
		return strings.HasPrefix(f.Path, "bin/controller-gen") && f.Action == report.Created
	}) {
		t.Errorf("the files are %v", made)
	}
	if _, err := LinkTools(s, ToolFolder, false); err != nil {
		t.Fatal(err)
	}
	if text := operationtest.Last(t, told).Text; text != "nothing changed" {
		t.Errorf("the second time: %s", text)
	}
	if _, err := UnlinkTools(s, ""); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(s.Dir, ToolFolder)); err == nil && len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestLinkToolsElsewhere: a repository's bin may lead elsewhere; that folder has to be named.
func TestLinkToolsElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no links to tools")
	}
	s, _ := operationtest.Begin(t, t.TempDir())
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(s.Dir, ToolFolder)); err != nil {
		t.Fatal(err)
	}
	if err := operationtest.Mistake(t, operationtest.Err(LinkTools(s, "", false))); err.Where != ToolFolder {
		t.Error(err)
	}
	if made, err := os.ReadDir(elsewhere); err != nil || len(made) > 0 {
		t.Errorf("made elsewhere: %v, %v", made, err)
	}
	if _, err := LinkTools(s, ToolFolder, false); err != nil {
		t.Errorf("the folder that is named: %v", err)
	}
}

func TestInBuildCache(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/a/.cache/go-build/52/" + strings.Repeat("0f", 32) + "-d/slipway": true,
		"/home/a/go/bin/slipway": false, "slipway": false,
	} {
		if inBuildCache(filepath.FromSlash(path)) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

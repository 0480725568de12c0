//go:build unix

package find

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

// slipway puts a command of that name on PATH, and nothing else.
func slipway(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if script == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, "slipway"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func env(value string) func(string) string {
	return func(key string) string {
		if key == Variable {
			return value
		}
		return ""
	}
}

func TestFindNamed(t *testing.T) {
	slipway(t, "exit 1") // is not asked
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Program(t.Context(), env(path), io.Discard); got != path || err != nil {
		t.Errorf("Program = %s, %v; want %s", got, err, path)
	}
}

func TestFindBySlipway(t *testing.T) {
	for _, test := range []struct{ script, says string }{
		{`echo "/programs/of $1 $2"`, ""},
		{`echo "building" >&2; echo "/programs/of $1 $2"`, "minutes"},
	} {
		slipway(t, test.script)
		var progress bytes.Buffer
		got, err := Program(t.Context(), env(""), &progress)
		if got != "/programs/of cluster build" || err != nil {
			t.Errorf("Program = %s, %v", got, err)
		}
		if said := progress.String(); !strings.Contains(said, test.says) || (test.says == "") != (said == "") {
			t.Errorf("it said %q, want %q", said, test.says)
		}
	}
}

func TestFindFails(t *testing.T) {
	for _, test := range []struct{ name, variable, script, where, hint string }{
		{"nothing there", "/nowhere/program", "", "/nowhere/program", "unset"},
		{"a folder", "/", "", "/", "unset"},
		{"no slipway", "", "", Variable, "install the slipway command"},
		{"no build", "", "echo the disk is full >&2; exit 1", "cluster build", "the disk is full"},
		{"no path", "", "echo hello", "cluster build", "version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			slipway(t, test.script)
			_, err := Program(t.Context(), env(test.variable), io.Discard)
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || !strings.Contains(e.Where, test.where) || !strings.Contains(e.Hint, test.hint) || e.Next == "" || e.Err == nil {
				t.Errorf("Program returned %#v, want where (%s), why, a hint (%s) and a command", err, test.where, test.hint)
			}
		})
	}
}

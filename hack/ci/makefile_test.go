package ci_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// makes runs a shell command in the place of one of the Makefile's targets, in a folder.
func makes(t *testing.T, dir, recipe string, settings ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", append([]string{"--silent", "--file=-", "it"}, settings...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "GIT_DIR=elsewhere")
	cmd.Stdin = strings.NewReader("include Makefile\nit:\n\t" + recipe + "\n")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestProgramsAreNamed: tests that need a program of clusters do not begin, and so are not skipped, when it cannot be
// had.
func TestProgramsAreNamed(t *testing.T) {
	bin := t.TempDir()
	for script, want := range map[string]string{"echo /a/program": "/a/program", "exit 1": "", `[ "$#" = 2 ] && echo /a/program`: ""} {
		if err := os.WriteFile(filepath.Join(bin, "slipway"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		out, err := makes(t, root, `$(PROGRAMS) && sh -c 'echo "begun with $$SLIPWAY_CLUSTER $$SLIPWAY_NODE $$SLIPWAY_CHECK"'`, "BIN="+bin)
		if begun := "begun with " + want + " " + want + " " + bin + "/check/slipway-check\n"; want != "" && (err != nil || out != begun) {
			t.Errorf("%s: %v, %s", script, err, out)
		}
		if want == "" && (err == nil || strings.Contains(out, "begun")) {
			t.Errorf("%s fails, and the tests begin: %s", script, out)
		}
	}
}

// TestMakeIsOfThisFolder: a path with a space names others, and so do the variables of a git hook.
func TestMakeIsOfThisFolder(t *testing.T) {
	if out, err := makes(t, root, `echo "$$GIT_DIR, $(ONLY)"`, "RUN=^TestA$|TestB$"); err != nil || out != ", -run '^TestA$|TestB$'\n" {
		t.Errorf("%v, %q", err, out)
	}
	spaced := filepath.Join(t.TempDir(), "my checkout")
	if err := os.Mkdir(spaced, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(spaced, "Makefile"), []byte(readAll(t, filepath.Join(root, "Makefile"))), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := makes(t, spaced, "echo begun"); err == nil || !strings.Contains(out, "a path without spaces") {
		t.Errorf("%v, %q", err, out)
	}
}

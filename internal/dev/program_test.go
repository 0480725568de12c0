package dev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInterpreter: the first line of a script is no longer in a message than where a kernel looks for its program.
func TestInterpreter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "op")
	for text, want := range map[string]string{
		"#! /bin/none -u\nexit\n": "/bin/none -u",
		"#!/none":                 "/none",
		"#!/" + strings.Repeat("x", 1<<20) + "\n": "/" + strings.Repeat("x", longestLine-len("#!/")),
		"none\n#!/bin/sh\n":                       "",
		"":                                        "",
	} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := interpreter(file); got != want {
			t.Errorf("%.30q: got %.300q", text, got)
		}
	}
}

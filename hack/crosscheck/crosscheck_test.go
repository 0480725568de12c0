package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherSystem: a mistake in a file for another system is found, and none in one for this.
func TestOtherSystem(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.com/ships\n\ngo 1.26.0\n",
		"a.go":         "package ships\n",
		"a_windows.go": "package ships\n\nvar sails int = \"three\"\n",
		"a_darwin.go":  "package ships\n\nvar sails int = 3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	all := []string{"./..."}
	err := run(t.Context(), &out, dir, []string{"windows/amd64"}, all)
	if !errors.Is(err, errFound) || !strings.Contains(out.String(), "a_windows.go:3") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := run(t.Context(), &out, dir, []string{"darwin/arm64", "linux/amd64"}, all); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := run(t.Context(), &out, dir, []string{"windows"}, all); !errors.Is(err, errSystem) {
		t.Errorf("without an architecture: %v", err)
	}
}

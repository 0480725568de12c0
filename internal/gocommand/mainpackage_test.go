package gocommand_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/gocommand"
)

// TestMainPackages: cmd comes first, then the module's own folder, then the folders of cmd; what build tags leave out,
// tests, and other packages do not count.
func TestMainPackages(t *testing.T) {
	const program, tagged = "package main\n", "//go:build never\n\npackage main\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"today", map[string]string{"cmd/main.go": program, "main.go": program, "cmd/a/main.go": program}, []string{"cmd"}},
		{"older", map[string]string{"start.go": program, "cmd/a/main.go": program}, []string{"."}},
		{"below", map[string]string{"vendor.go": tagged, "cmd/a.v1/run.go": program, "cmd/b/b.go": "package b\n"}, []string{"cmd/a.v1"}},
		{"several", map[string]string{"cmd/a/main.go": program, "cmd/b/main.go": program}, []string{"cmd/a", "cmd/b"}},
		{"none", map[string]string{"main_test.go": program, "cmd/a/main_plan9.go": program}, nil},
	} {
		dir := t.TempDir()
		for name, text := range test.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := gocommand.MainPackages(dir); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

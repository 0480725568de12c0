package regenerate_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// watched watches a folder; each round of changes is received from the channel.
func watched(t *testing.T, root string) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, changes, ended := make(chan struct{}), make(chan struct{}, 100), make(chan error, 1)
	go func() {
		ended <- regenerate.Watch(ctx, root, headersOf(root), report.Discard, func() { close(ready) }, func() { changes <- struct{}{} })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
	return changes
}

// headersOf lists the headers that a project's Makefile names.
func headersOf(root string) func() []string {
	return func() []string {
		headers, _ := codebase.Read(fileview.Disk(root), func(string) string { return "" }).Headers() // without a mistake
		return headers
	}
}

func save(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("package p\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWatch: what package filewatch finds in a project comes through, again and again.
func TestWatch(t *testing.T) {
	root := t.TempDir()
	save(t, filepath.Join(root, "api", "types.go"))
	changes := watched(t, root)
	for _, name := range []string{"api/types.go", "internal/new/deep.go", "Makefile", "PROJECT", "go.mod"} {
		save(t, filepath.Join(root, filepath.FromSlash(name)))
		<-changes
		drain(changes)
	}
}

// TestWatchHeaders: the file of what generated code begins with is watched, and another one once the Makefile names it.
func TestWatchHeaders(t *testing.T) {
	root := t.TempDir()
	name := func(header string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, "Makefile"), []byte("gen:\n\tcontroller-gen object:headerFile="+header+" paths=./...\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	name("hack/license.go.txt")
	save(t, filepath.Join(root, "hack", "license.go.txt"))
	changes := watched(t, root)
	save(t, filepath.Join(root, "hack", "license.go.txt"))
	<-changes // a save of the header
	name("hack/other.txt")
	<-changes // a save of the Makefile
	drain(changes)
	save(t, filepath.Join(root, "hack", "other.txt"))
	<-changes // a save of the new header
}

// drain forgets what was noticed so far.
func drain(changes <-chan struct{}) {
	for len(changes) > 0 {
		<-changes
	}
}

// TestWatchPassesOver: files that no generator reads change nothing; the file saved after them comes alone.
func TestWatchPassesOver(t *testing.T) {
	root := t.TempDir()
	save(t, filepath.Join(root, ".git", "HEAD.go"))
	save(t, filepath.Join(root, "vendor", "v.go"))
	changes := watched(t, root)
	for _, name := range []string{"notes.md", ".hidden.go", "a_test.go", ".git/index.go", "vendor/v.go", "config/crd.yaml"} {
		save(t, filepath.Join(root, name))
	}
	save(t, filepath.Join(root, "a.go"))
	<-changes // a save
	if len(changes) > 1 {
		t.Errorf("%d more rounds", len(changes))
	}
}

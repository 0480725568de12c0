package devloop

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/dev/loop"
)

// TestWork: what follows from the save of a file.
func TestWork(t *testing.T) {
	root := t.TempDir()
	in := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	writeFile(t, in("new/new.go"), "package new\n")
	known := &inputs{
		folders: map[string]bool{in("cmd"): true},
		embeds:  []embed{{in("cmd"), "static"}, {in("cmd"), "*.tmpl"}},
	}
	for _, test := range []struct {
		name     string
		file     string
		inputs   *inputs
		building bool
		ended    bool
		want     loop.Work
	}{
		{"source", "cmd/main.go", known, false, false, loop.Generate | loop.Build},
		{"source of no input", "other/other.go", known, false, false, loop.Generate | loop.Build},
		{"source of what may become an input", "other/other.go", known, true, false, loop.Generate | loop.Build},
		{"source before the first build", "other/other.go", nil, false, false, loop.Generate | loop.Build},
		{"embedded", "cmd/page.tmpl", known, false, false, loop.Build},
		{"new below an embedded folder", "cmd/static/js/new.js", known, false, false, loop.Build},
		{"not embedded", "cmd/README.md", known, false, false, 0},
		{"beside a package that may not have what it embeds", "cmd/data/new.txt", known, true, false, loop.Build},
		{"beside a package that is no input yet", "new/texts/a.txt", known, true, false, loop.Build},
		{"beside a package that is no input", "new/texts/a.txt", known, false, false, 0},
		{"far from packages", "docs/README.md", known, true, false, 0},
		{"without a manager", "other/other.go", known, false, true, loop.Generate | loop.Build | loop.Restart},
		{"a note without a manager", "docs/README.md", known, false, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &project{root: root}
			if test.inputs != nil {
				p.inputs.Store(test.inputs)
			}
			p.building.Store(test.building)
			if test.ended {
				p.manager = &manager{}
				p.manager.ended.Store(true)
			}
			if got := p.Work([]string{in(test.file)}); got != test.want {
				t.Errorf("it is %b, want %b", got, test.want)
			}
		})
	}
}

// TestLearnInputs: what the manager is built from is asked for again after a file changed in a folder that was not
// there when it was asked for last.
func TestLearnInputs(t *testing.T) {
	root := t.TempDir()
	known, other := filepath.Join(root, "cmd", "main.go"), filepath.Join(root, "new", "new.go")
	writeFile(t, known, "package main\n")
	writeFile(t, other, "package new\n")
	for file, want := range map[string]bool{known: false, other: true} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is asked
		p := &project{root: root, life: ctx, sources: []string{file}, brings: map[string]string{file: ""}}
		p.inputs.Store(&inputs{folders: map[string]bool{filepath.Dir(known): true}})
		p.learnInputs(dev.Options{Dir: root}, "cmd", false)
		if asked := p.learning != nil; asked != want {
			t.Errorf("after a change of %s it is asked for: %v", file, asked)
		}
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

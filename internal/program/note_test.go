//go:build unix

package program

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/rounds"
)

// warnings are those that were given, which it forgets.
func (y *yard) warnings() (texts []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, e := range y.events {
		if w, ok := e.(report.Warning); ok {
			texts = append(texts, w.Text)
		}
	}
	y.events = nil
	return texts
}

// cut cuts a file off, or changes one byte of it if size is negative.
func cut(t *testing.T, path string, size int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if size < 0 {
		text[len(text)/2] ^= 1
	} else {
		text = text[:size]
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, text, 0o755)); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedPrograms: each program of the cache, cut off or changed, is made again, with one line of warning.
func TestDamagedPrograms(t *testing.T) {
	rounds.Thorough(t)
	y := newYard(t)
	p, kubectl := y.ensure(), y.kubectl()
	for path, ensure := range map[string]func(){p.Path: func() { y.ensure() }, kubectl: func() { y.kubectl() }} {
		for _, size := range []int{0, 1000, -1} {
			cut(t, path, size)
			y.told.Clear()
			y.ensure()
			y.kubectl()
			if said := y.warnings(); sound(path) != nil || len(said) != 1 || !strings.Contains(said[0], path) {
				t.Errorf("%s of %d bytes: %v, warnings %q", path, size, sound(path), said)
			}
			ensure()
			if said := y.warnings(); len(said) != 0 {
				t.Errorf("once more: %q", said)
			}
		}
	}
	y.env["SLIPWAY_CLUSTER"] = p.Path
	cut(t, filepath.Join(filepath.Dir(p.Path), name), 1000)
	if _, err := y.Ensure(t.Context()); !errors.Is(err, errDamaged) {
		t.Errorf("named: %v", err)
	}
}

// TestDamagedKubectlOfANamedProgram: that a damaged kubectl was looked for once does not make it a whole one.
func TestDamagedKubectlOfANamedProgram(t *testing.T) {
	y := newYard(t)
	p, kubectl := y.ensure(), y.kubectl()
	cut(t, kubectl, 1000)
	for range 2 {
		if _, ok, err := y.FindKubectl(t.Context()); ok || err != nil {
			t.Errorf("found: %v, %v", ok, err)
		}
	}
	if said := y.warnings(); len(said) != 1 {
		t.Errorf("warnings %q", said)
	}
	y.env["SLIPWAY_CLUSTER"] = p.Path
	if _, _, err := y.FindKubectl(t.Context()); !errors.Is(err, errDamaged) {
		t.Errorf("beside the program that was named: %v", err)
	}
}

// TestOnlyTheTimeChanged: a program that was copied or touched is the same.
func TestOnlyTheTimeChanged(t *testing.T) {
	y := newYard(t)
	p := y.ensure()
	note := filepath.Join(filepath.Dir(p.Path), noteName)
	before, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(p.Path, then, then); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again := y.ensure(); again.Origin != FromCache || len(y.warnings()) != 0 {
			t.Errorf("got %+v", again)
		}
	}
	after, err := os.ReadFile(note)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the note was %s, is %s, %v", before, after, err)
	}
	if info, err := os.Stat(p.Path); err != nil || info.ModTime().Equal(then) {
		t.Errorf("it is compared each time: %v", err)
	}
}

// TestDamagedChecker: so it is for a small program, which is not built when it is only looked for.
func TestDamagedChecker(t *testing.T) {
	y := newYard(t)
	y.small(checkName)
	y.write("cluster/go.sum", "")
	y.write("cluster/crdcheck/check.go", "package crdcheck\n")
	path, err := y.EnsureChecker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cut(t, path, 4096)
	if _, ok, err := y.find(checkProduct()); ok || err != nil || len(y.warnings()) != 1 {
		t.Errorf("found: %v, %v", ok, err)
	}
	again, err := y.EnsureChecker(t.Context())
	if again != path || err != nil || sound(again) != nil {
		t.Errorf("%s, %v", again, err)
	}
	y.env["SLIPWAY_CHECK"] = path
	cut(t, path, 4096)
	if _, err := y.EnsureChecker(t.Context()); !errors.Is(err, errDamaged) {
		t.Errorf("named: %v", err)
	}
}

// TestUserSettings: those of the user do not change programs that others then find under the same key.
func TestUserSettings(t *testing.T) {
	y := newYard(t)
	y.write("cluster/cmd/slipway-cluster/tagged.go", "//go:build tagged\n\npackage main\n\nfunc init() { panic(\"tagged\") }\n")
	t.Setenv("GOFLAGS", "-tags=tagged")
	t.Setenv("GOAMD64", "v4")
	p := y.ensure()
	if err := y.speaks(t.Context(), p.Path); err != nil {
		t.Error(err)
	}
}

// TestSourcesChangeMeanwhile: what is kept under a key was compiled from the sources that the key is of.
func TestSourcesChangeMeanwhile(t *testing.T) {
	y := newYard(t)
	main, err := os.ReadFile(filepath.Join(y.root, "cluster/cmd/slipway-cluster/main.go"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := y.clusterKey()
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	y.seen = func(e report.Event) {
		if _, ok := e.(report.Progress); ok && !changed {
			changed = true
			y.write("cluster/cmd/slipway-cluster/main.go", strings.Replace(string(main), "v1", "v2", 1))
		}
	}
	p := y.ensure()
	y.seen = nil
	if v, err := y.ask(t.Context(), p.Path); err != nil || v.Version != "v2" || filepath.Base(filepath.Dir(p.Path)) == first {
		t.Errorf("%+v, %v at %s", v, err, p.Path)
	}
	y.write("cluster/cmd/slipway-cluster/main.go", string(main))
	if v, err := y.ask(t.Context(), y.ensure().Path); err != nil || v.Version != "v1" {
		t.Errorf("the first ones: %+v, %v", v, err)
	}
}

// TestSourcesNeverRest: it ends.
func TestSourcesNeverRest(t *testing.T) {
	rounds.Thorough(t)
	y := newYard(t)
	i := 0
	y.seen = func(e report.Event) {
		if _, ok := e.(report.Progress); ok {
			i++
			y.write("cluster/cmd/slipway-cluster/more.go", fmt.Sprintf("package main\n\nconst more = %d\n", i))
		}
	}
	if e := y.failure(); !errors.Is(e, errChanged) {
		t.Errorf("%+v", e)
	}
}

func (y *yard) clusterKey() (string, error) {
	s, _, err := y.slotOf(clusterProduct())
	return filepath.Base(s.dir), err
}

// TestNeighbours: a program beside slipway is used if it is known to be of the same sources or version, and else passed
// over with one warning, however often it is looked for.
func TestNeighbours(t *testing.T) {
	y := newYard(t)
	built := y.ensure()
	y.warnings()
	dir := filepath.Join(y.root, "bin")
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(built.Path))); err != nil {
		t.Fatal(err)
	}
	want := func(what string, neighbour bool) {
		t.Helper()
		y.told.Clear()
		p := y.ensure()
		y.ensure()
		said := len(y.warnings())
		if (p.Origin == FromNeighbour) != neighbour || (said == 0) != neighbour || said > 1 {
			t.Errorf("%s: %+v, %d warnings", what, p, said)
		}
	}
	want("a copy with its note", true)
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(filepath.Dir(built.Path))), os.Chmod(filepath.Join(dir, name), 0o777)); err != nil {
		t.Fatal(err)
	}
	want("one that every user may change", false)
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(filepath.Dir(built.Path)))); err != nil {
		t.Fatal(err)
	}
	y.write("cluster/cmd/slipway-cluster/more.go", "package main\n\nconst more = 1\n")
	want("of older sources", false)
	if err := os.Remove(filepath.Join(dir, noteName)); err != nil {
		t.Fatal(err)
	}
	want("without a note", false)
}

// TestNeighbourOfACommit: what the go command notes in a program tells of its sources as well.
func TestNeighbourOfACommit(t *testing.T) {
	y := newYard(t)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	run := func(dir, program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	y.write(".gitignore", "/bin\n")
	run(y.root, "git", "init", "-q")
	run(y.root, "git", "add", ".")
	run(y.root, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one")
	y.revision = run(y.root, "git", "rev-parse", "HEAD")
	beside := filepath.Join(y.root, "bin", name)
	run(filepath.Join(y.root, "cluster"), "go", "build", "-buildvcs=true", "-o", beside, "./cmd/slipway-cluster")
	if p := y.ensure(); p != (Program{beside, FromNeighbour}) || len(y.warnings()) > 0 {
		t.Errorf("of the same commit: %+v", p)
	}
	y.revision = "0000000000000000000000000000000000000000"
	if p := y.ensure(); p.Origin == FromNeighbour || len(y.warnings()) != 1 {
		t.Errorf("of another one: %+v", p)
	}
}

package plan_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// newPlan is a plan for a folder with these files.
func newPlan(t *testing.T, files map[string]string) *plan.Plan {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := plan.New(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// A word is a piece of text that is there once.
type word string

func (w word) ID() string { return string(w) }

func (w word) Insert(path string, src []byte) ([]byte, error) {
	if strings.Contains(string(src), "refused") {
		return nil, &report.Error{What: "there is no place for " + string(w), Where: path + ":1", Hint: "insert it"}
	}
	if bytes.Contains(src, []byte(w)) {
		return src, nil
	}
	return append(bytes.Clone(src), w...), nil
}

func (w word) Remove(src []byte) ([]byte, int) { return bytes.ReplaceAll(src, []byte(w), nil), 0 }

// TestChanges: each way to ask for something, and what becomes of the file and of its merge base.
func TestChanges(t *testing.T) {
	const gone = "(gone)"
	there := map[string]string{"a": "old\n"}
	for _, test := range []struct {
		name       string
		asks       func(p *plan.Plan) error
		want       report.File
		after      string
		scaffolded string // in the base
	}{
		{"create", func(p *plan.Plan) error { return p.Create("b", []byte("new\n")) }, report.File{Path: "b", Action: report.Created}, "new\n", "new\n"},
		{"create what is there", func(p *plan.Plan) error { return p.Create("a", []byte("new\n")) }, report.File{Path: "a", Action: report.Kept, Why: "it existed already"}, "old\n", gone},
		{"create the same", func(p *plan.Plan) error { return p.Create("a", []byte("old\n")) }, report.File{Path: "a", Action: report.Unchanged}, "old\n", "old\n"},
		{"require", func(p *plan.Plan) error { return p.Require("b", []byte("new\n")) }, report.File{Path: "b", Action: report.Created}, "new\n", "new\n"},
		{"write", func(p *plan.Plan) error { return p.Write("a", []byte("new\n")) }, report.File{Path: "a", Action: report.Updated}, "new\n", gone},
		{"write the same", func(p *plan.Plan) error { return p.Write("a", []byte("old\n")) }, report.File{Path: "a", Action: report.Unchanged}, "old\n", gone},
		{"put", func(p *plan.Plan) error { return p.Insert("a", plan.These(word("x"))) }, report.File{Path: "a", Action: report.Updated}, "old\nx", gone},
		{"put into what is created", func(p *plan.Plan) error {
			return errors.Join(p.Create("b", nil), p.Insert("b", plan.These(word("x"), word("y"))))
		}, report.File{Path: "b", Action: report.Created}, "xy", "xy"},
		{"remove", func(p *plan.Plan) error { return p.Remove("a") }, report.File{Path: "a", Action: report.Deleted}, "", gone},
		{"remove and create", func(p *plan.Plan) error { return errors.Join(p.Remove("a"), p.Create("a", []byte("new\n"))) }, report.File{Path: "a", Action: report.Updated}, "new\n", "new\n"},
		{"keep", func(p *plan.Plan) error { return p.Keep("a", "it is yours") }, report.File{Path: "a", Action: report.Kept, Why: "it is yours"}, "old\n", gone},
		{"move", func(p *plan.Plan) error { return p.Move("a", "b") }, report.File{Path: "b", Action: report.Moved, From: "a"}, "old\n", gone},
		{"copy", func(p *plan.Plan) error { return p.Copy("a", "b") }, report.File{Path: "b", Action: report.Created, Why: "copied from a"}, "old\n", gone},
		{"from a template", func(p *plan.Plan) error {
			return p.CreateFrom("init/hack/boilerplate.go.txt", "b", map[string]any{"License": "// mine"})
		}, report.File{Path: "b", Action: report.Created}, "// mine\n", "// mine\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlan(t, there)
			must(t, test.asks(p))
			if diff := cmp.Diff([]report.File{test.want}, p.Changes()); diff != "" {
				t.Errorf("changes: %s", diff)
			}
			file, err := p.Find(test.want.Path)
			if err != nil || string(file.After()) != test.after {
				t.Errorf("%s becomes %q, %v, want %q", file.Path(), file.After(), err, test.after)
			}
			scaffolded, ok := p.Base().File(test.want.Path)
			if got := string(scaffolded); ok && got != test.scaffolded || !ok && test.scaffolded != gone {
				t.Errorf("the base has %q, %v, want %q", got, ok, test.scaffolded)
			}
		})
	}
}

// TestRequireOnce: what several parts share is created once, and what is there stays.
func TestRequireOnce(t *testing.T) {
	p := newPlan(t, map[string]string{"a": "mine\n"})
	must(t, p.Require("a", []byte("x")), p.Require("b", []byte("x")), p.Require("b", []byte("y")))
	if diff := cmp.Diff([]report.File{{Path: "b", Action: report.Created}}, p.Changes()); diff != "" {
		t.Error(diff)
	}
	if err := p.Create("b", []byte("z")); err == nil {
		t.Error("a file is created twice")
	}
}

// TestRefusal: all that cannot be done is told at once, and nothing is planned.
func TestRefusal(t *testing.T) {
	p := newPlan(t, map[string]string{"a": "refused\n", "b": "refused\n"})
	must(t, p.Insert("a", plan.These(word("x"))), p.Insert("b", plan.These(word("y"))), p.Insert("c", plan.These(word("refused"))))
	if p.Insert("a", func([]byte) []plan.Piece { return []plan.Piece{unreadable{}} }) == nil {
		t.Error("an error that is no refusal is taken for one")
	}
	refusal, ok := errors.AsType[*report.Error](p.Finish())
	if !ok || !p.Refused() || refusal.Where != "a:1" || !strings.Contains(refusal.Hint, "b:1: there is no place for y; insert it") {
		t.Errorf("got %+v", refusal)
	}
	missing := newPlan(t, nil)
	must(t, missing.Edit("c", func(path string, _ []byte) ([]byte, error) {
		return nil, &report.Error{What: "no place", Where: path + ":1"}
	}))
	if refusal, ok := errors.AsType[*report.Error](missing.Finish()); !ok || refusal.What != "the file is missing" || refusal.Where != "c" {
		t.Errorf("got %+v", refusal)
	}
}

type unreadable struct{ word }

func (unreadable) Insert(string, []byte) ([]byte, error) { return nil, os.ErrPermission }

// TestRecord: a plan that records changes nothing, and notes what would be needed.
func TestRecord(t *testing.T) {
	p := newPlan(t, map[string]string{"a": "old\n"})
	var needs plan.Needs
	r := p.Record(&needs)
	must(t, r.Create("b", []byte("new\n")), r.Require("c", nil), r.Insert("a", plan.These(word("x"), word("y"))),
		r.Edit("a", func(string, []byte) ([]byte, error) { return nil, os.ErrInvalid }), r.CreateFrom("init/hack/boilerplate.go.txt", "d", map[string]any{"License": "// mine"}))
	r.NeedGenerated("e", "b")
	if !r.Recording() || p.Recording() || len(r.Changes()) > 0 || len(p.Changes()) > 0 {
		t.Errorf("it changes %v and %v", r.Changes(), p.Changes())
	}
	want := []plan.NeededFile{{Path: "b", Content: []byte("new\n")}, {Path: "c"}, {Path: "d", Content: []byte("// mine\n")}, {Path: "e", From: "b"}}
	if diff := cmp.Diff(want, needs.Files); diff != "" {
		t.Errorf("needed files: %s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"x": true, "y": true}, needs.IDs("a", nil)); diff != "" || needs.HasFile("a") || !needs.HasFile("e") {
		t.Errorf("needed pieces: %s", diff)
	}
	names := plan.Needs{NamesOnly: true}
	must(t, p.Record(&names).CreateFrom("d", "no/such/template", nil), p.Record(&names).RequireFrom("e", "no/such/template", nil))
	if !names.HasFile("no/such/template") {
		t.Errorf("the names are %v", names.Files)
	}
}

// TestDifferences shows a plan as git would show it.
func TestDifferences(t *testing.T) {
	p := newPlan(t, map[string]string{"a": "old\n", "gone": "x\n", "moved": "y\n"})
	must(t, p.Create("b", []byte("new\n")), p.Write("a", []byte("newer\n")), p.Remove("gone"), p.Move("moved", "there"), p.Keep("kept", "why not"), p.Finish())
	var got []plan.Difference
	for _, d := range p.Differences(true) {
		if !strings.HasPrefix(d.Path, ".slipway/") {
			got = append(got, d)
		} else if d.Path == base.Path && d.Diff != "" {
			t.Error("the base is shown")
		}
	}
	want := []plan.Difference{
		{Path: "b", Action: report.Created, Diff: "diff /dev/null b/b\n--- /dev/null\n+++ b/b\n@@ -0,0 +1,1 @@\n+new\n"},
		{Path: "a", Action: report.Updated, Diff: "diff a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-old\n+newer\n"},
		{Path: "gone", Action: report.Deleted, Diff: "diff a/gone /dev/null\n--- a/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"},
		{Path: "there", Action: report.Moved, From: "moved", Diff: "diff --git a/moved b/there\nsimilarity index 100%\nrename from moved\nrename to there\n"},
		{Path: "kept", Action: report.Kept, Why: "why not"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, d := range p.Differences(false) {
		if d.Diff != "" {
			t.Errorf("%s is shown with its text", d.Path)
		}
	}
}

// TestBaseGoes: a project in which nothing is scaffolded any more has no base.
func TestBaseGoes(t *testing.T) {
	p := newPlan(t, nil)
	must(t, p.Create("a", []byte("x")), p.Finish(), p.Apply(report.Discard))
	p, err := plan.New(fileview.Disk(p.Root()))
	must(t, err, p.Remove("a"), p.Finish(), p.Apply(report.Discard))
	entries, err := os.ReadDir(p.Root())
	must(t, err)
	for _, e := range entries {
		t.Errorf("%s is left", e.Name())
	}
}

func TestNothingToDo(t *testing.T) {
	p := newPlan(t, nil)
	must(t, p.Create("a", nil))
	p.NothingToDo("it is there already")
	if !p.Empty() || p.Because() != "it is there already" || len(p.Changes()) > 0 {
		t.Errorf("it does %v because %q", p.Changes(), p.Because())
	}
}

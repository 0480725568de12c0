package derived_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/derived"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/threeway"
)

// first is what is made the first time.
func first() derived.Options {
	return derived.Options{Folder: "chart", Mark: "Chart.yaml", Next: "make chart", Files: map[string][]byte{
		"Chart.yaml": []byte("name: op\n"), "values.yaml": []byte("a: 1\nb: 2\nc: 3\n"), "templates/old.yaml": []byte("old\n"),
	}}
}

// later is what is made a second time: other values, a new file, and an old one no more.
func later() derived.Options {
	o := first()
	o.Files = map[string][]byte{"Chart.yaml": []byte("name: op\n"), "values.yaml": []byte("a: 1\nb: 2\nc: 4\n"), "templates/new.yaml": []byte("new\n")}
	return o
}

// TestPlan makes files a second time, after the user has changed what was made first.
func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name    string
		changes map[string]string // by the user; "" deletes a file
		option  func(*derived.Options)
		want    map[string]string // files that differ from those of a user who changed nothing; "" is gone
		kept    []string
	}{
		{"nothing", nil, nil, nil, nil},
		{"a line", map[string]string{"values.yaml": "a: mine\nb: 2\nc: 3\n"}, nil, map[string]string{"values.yaml": "a: mine\nb: 2\nc: 4\n"}, nil},
		{"line ends", map[string]string{"values.yaml": "a: mine\r\nb: 2\r\nc: 3\r\n"}, nil, map[string]string{"values.yaml": "a: mine\r\nb: 2\r\nc: 4\r\n"}, nil},
		{"line ends alone, of a file that goes", map[string]string{"templates/old.yaml": "old\r\n"}, nil, nil, nil},
		{"a file more", map[string]string{"mine.yaml": "mine\n"}, nil, map[string]string{"mine.yaml": "mine\n"}, nil},
		{"a file that is made now", map[string]string{"templates/new.yaml": "mine\n"}, nil, map[string]string{"templates/new.yaml": "mine\n"}, []string{"chart/templates/new.yaml"}},
		{"a file that is made no more", map[string]string{"templates/old.yaml": "mine\n"}, nil, map[string]string{"templates/old.yaml": "mine\n"}, []string{"chart/templates/old.yaml"}},
		{"a deleted file", map[string]string{"values.yaml": ""}, nil, map[string]string{"values.yaml": ""}, []string{"chart/values.yaml"}},
		{"a deleted file that is restored", map[string]string{"values.yaml": ""}, func(o *derived.Options) { o.Restore = true }, nil, nil},
		{"all files", map[string]string{"Chart.yaml": "", "values.yaml": "", "templates/old.yaml": ""}, nil, nil, nil},
		{"the same line, of which mine is preferred", map[string]string{"values.yaml": "a: 1\nb: 2\nc: mine\n"}, func(o *derived.Options) { o.Prefer = threeway.Mine }, map[string]string{"values.yaml": "a: 1\nb: 2\nc: mine\n"}, nil},
		{"the same line, of which the new one is preferred", map[string]string{"values.yaml": "a: 1\nb: 2\nc: mine\n"}, func(o *derived.Options) { o.Prefer = threeway.Generated }, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			projecttest.Apply(t)(derived.Plan(fileview.Disk(root), first()))
			change(t, root, test.changes)
			o := later()
			if test.option != nil {
				test.option(&o)
			}
			if diff := cmp.Diff(test.kept, projecttest.Paths(projecttest.Apply(t)(derived.Plan(fileview.Disk(root), o)), report.Kept)); diff != "" {
				t.Errorf("kept files: %s", diff)
			}
			want := map[string]string{"Chart.yaml": "name: op\n", "values.yaml": "a: 1\nb: 2\nc: 4\n", "templates/new.yaml": "new\n"}
			maps.Copy(want, test.want)
			maps.DeleteFunc(want, func(_, content string) bool { return content == "" })
			if diff := cmp.Diff(want, projecttest.Tree(t, filepath.Join(root, "chart"))); diff != "" {
				t.Errorf("files: %s", diff)
			}
		})
	}
}

func change(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		name = filepath.Join(root, "chart", filepath.FromSlash(name))
		err := os.Remove(name)
		if content != "" {
			err = os.WriteFile(name, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAgain: the same again is nothing to do.
func TestAgain(t *testing.T) {
	root := t.TempDir()
	projecttest.Apply(t)(derived.Plan(fileview.Disk(root), first()))
	p, err := derived.Plan(fileview.Disk(root), first())
	if err != nil || !p.Empty() || p.Because() != "chart as slipway makes it" {
		t.Errorf("there is something to do, because %q: %v", p.Because(), err)
	}
}

func TestRefusals(t *testing.T) {
	root := t.TempDir()
	projecttest.Apply(t)(derived.Plan(fileview.Disk(root), first()))
	change(t, root, map[string]string{"values.yaml": "a: 1\nb: 2\n"})
	_, err := derived.Plan(fileview.Disk(root), later())
	want := &report.Error{
		Class: report.Conflict, What: "you and the project have changed the same lines; nothing was written", Where: "chart/values.yaml:3",
		Hint: "yours:\n    (removed)\nthe project's:\n    c: 4", Next: "make chart",
	}
	if refusal, ok := errors.AsType[*report.Error](err); !ok || cmp.Diff(want, refusal) != "" {
		t.Errorf("a conflict gives %v", err)
	}

	strange := t.TempDir()
	projecttest.Unpack(t, strange, "-- chart/Chart.yaml --\nname: other\n")
	_, err = derived.Plan(fileview.Disk(strange), first())
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "chart" {
		t.Errorf("a folder of another origin gives %v", err)
	}
}

package projectfile_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/project"
)

const good = "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: op\nrepo: example.com/op\nversion: \"3\"\n"

// TestOpenAndWrite: what is written is what was read.
func TestOpenAndWrite(t *testing.T) {
	root := t.TempDir()
	projecttest.Unpack(t, root, "-- PROJECT --\n"+good)
	p, file, err := projectfile.Open(fileview.Disk(root))
	if err != nil || file.Domain != "example.com" || file.Repo != "example.com/op" {
		t.Fatal(file, err)
	}
	if err := projectfile.Write(p, file); err != nil || !p.Empty() {
		t.Errorf("the same is written otherwise: %v", err)
	}
	file.MultiGroup = true
	projecttest.Apply(t)(p, projectfile.Write(p, file))
	projecttest.Holds(t, root, "PROJECT", "multigroup: true\n")
}

func TestLoadRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, where string }{
		{"not YAML", "domain: [", "PROJECT:1:1"},
		{"a value of another kind", "version: \"3\"\nresources: x\n", "PROJECT:2:12"},
		{"another layout", "repo: example.com/op\nlayout: [helm.sdk.operatorframework.io/v1]\nversion: \"3\"\n", "PROJECT:2"},
		{"no layout", "repo: example.com/op\nversion: \"3\"\n", "PROJECT:1"},
		{"no module", "layout: [go.kubebuilder.io/v4]\nversion: \"3\"\n", "PROJECT:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			projecttest.Unpack(t, root, "-- PROJECT --\n"+test.text)
			_, _, err := projectfile.Open(fileview.Disk(root))
			refusal, ok := errors.AsType[*report.Error](err)
			if !ok || refusal.Where != test.where || refusal.Hint == "" || refusal.Next == "" {
				t.Errorf("got %+v, want a refusal of %s with what to do", refusal, test.where)
			}
		})
	}
	root := t.TempDir()
	projecttest.Unpack(t, root, "-- PROJECT --\ndomain: example.com\nrepo: example.com/op\nversion: \"1\"\n")
	_, err := projectfile.Load(fileview.Disk(root))
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "PROJECT:3" || refusal.Hint == "" {
		t.Errorf("version 1 gives %v", err)
	}
	root = t.TempDir()
	_, err = projectfile.Load(fileview.Disk(root))
	if refusal, ok := errors.AsType[*report.Error](err); !ok || !errors.Is(err, fs.ErrNotExist) || refusal.Where != filepath.Join(root, "PROJECT") || refusal.Next != "slipway init" {
		t.Errorf("no project gives %v", err)
	}
	projecttest.Unpack(t, root, "-- PROJECT/file --\n")
	if _, err := projectfile.Read(fileview.Disk(root)); err == nil {
		t.Error("a folder is read as PROJECT")
	}
}

// TestInvalid: a mistake in a name is one of the flag that it came from; any other error stays what it is.
func TestInvalid(t *testing.T) {
	if refusal, ok := errors.AsType[*report.Error](projectfile.InvalidName(project.ValidateKind("cronJob"))); !ok || refusal.Where != "--kind" || refusal.ExitCode() != 2 {
		t.Errorf("got %+v", refusal)
	}
	if refusal, ok := errors.AsType[*report.Error](projectfile.Invalid("--name", project.ValidateKind("cronJob"))); !ok || refusal.Where != "--name" {
		t.Errorf("got %+v", refusal)
	}
	other := errors.New("other")
	if !errors.Is(projectfile.Invalid("--name", other), other) || !errors.Is(projectfile.InvalidName(other), other) {
		t.Error("another error is changed")
	}
}

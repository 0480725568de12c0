package plan

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

func emptyPlan(t *testing.T) (*Plan, string) {
	t.Helper()
	root := t.TempDir()
	p, err := New(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	return p, root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestApplyAllOrNothing: when the last file cannot be written, those before it are
// as they were, and so are the folders.
func TestApplyAllOrNothing(t *testing.T) {
	p, root := emptyPlan(t)
	must(t, os.WriteFile(filepath.Join(root, "old"), []byte("old"), 0o600))
	must(t, os.WriteFile(filepath.Join(root, "blocked"), nil, 0o644))
	must(t, p.Create("deep/er/new", []byte("new")))
	must(t, p.Write("old", []byte("changed")))
	p.changes = append(p.changes, &File{path: "blocked/file", after: []byte("x"), action: report.Created}) // below a file
	if err := p.Apply(report.Discard); err == nil {
		t.Fatal("no error")
	}
	if got := read(t, root, "old"); got != "old" {
		t.Errorf("old holds %q", got)
	}
	if _, err := os.Stat(filepath.Join(root, ".slipway")); err == nil {
		t.Error("the run left something")
	}
	if _, err := os.Stat(filepath.Join(root, "deep")); err == nil {
		t.Error("a folder was left behind")
	}
}

// TestApplyRefusesChangedFile: what someone else wrote after planning stays.
func TestApplyRefusesChangedFile(t *testing.T) {
	for _, path := range []string{"there", "not-there"} {
		p, root := emptyPlan(t)
		must(t, os.WriteFile(filepath.Join(root, "there"), []byte("planned"), 0o644))
		must(t, p.Write(path, []byte("ours")))
		must(t, os.WriteFile(filepath.Join(root, path), []byte("theirs"), 0o644))
		var refusal *report.Error
		if err := p.Apply(report.Discard); !errors.As(err, &refusal) || refusal.Where != path {
			t.Errorf("%s: got %v", path, err)
		}
		if got := read(t, root, path); got != "theirs" {
			t.Errorf("%s holds %q", path, got)
		}
	}
}

func TestApplyKeepsModeAndLinks(t *testing.T) {
	p, root := emptyPlan(t)
	must(t, os.WriteFile(filepath.Join(root, "target"), []byte("old"), 0o750))
	must(t, os.Chmod(filepath.Join(root, "target"), 0o750)) // whatever the umask is
	if err := os.Symlink("target", filepath.Join(root, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	must(t, p.Write("link", []byte("new")))
	must(t, p.Apply(report.Discard))
	info, err := os.Lstat(filepath.Join(root, "target"))
	must(t, err)
	if got := read(t, root, "target"); got != "new" || info.Mode().Perm() != 0o750 {
		t.Errorf("target holds %q with mode %v", got, info.Mode())
	}
	if info, err := os.Lstat(filepath.Join(root, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	must(t, err)
	return string(data)
}

// TestRemoveKept: a file that goes in the end has no reason to stay.
func TestRemoveKept(t *testing.T) {
	p, root := emptyPlan(t)
	must(t, os.WriteFile(filepath.Join(root, "file"), []byte("mine"), 0o644))
	must(t, p.Keep("file", "line 1 has your changes"))
	must(t, p.Remove("file"))
	want := []report.File{{Path: "file", Action: report.Deleted}}
	if got := p.Changes(); !slices.Equal(got, want) {
		t.Errorf("the plan is %v, want %v", got, want)
	}
}

// TestPutWhereItDoesNotBelong: code that an insertion point asks for in a place where Go has none is refused, with the
// line.
func TestPutWhereItDoesNotBelong(t *testing.T) {
	p, root := emptyPlan(t)
	const misplaced = "package main\n\nfunc main() {\n\tprintln()\n\t// +kubebuilder:scaffold:imports\n}\n"
	must(t, os.WriteFile(filepath.Join(root, "main.go"), []byte(misplaced), 0o644))
	must(t, p.Insert("main.go", These(inserted{"\t\"os\" \"path\"\n"})))
	refusal, is := errors.AsType[*report.Error](p.Finish())
	if !is || refusal.Where != "main.go:5" {
		t.Errorf("got %v, want a refusal of main.go:5", refusal)
	}
}

// inserted is text that goes above the insertion point.
type inserted struct{ text string }

func (i inserted) ID() string { return i.text }

func (i inserted) Insert(_ string, src []byte) ([]byte, error) {
	return bytes.Replace(src, []byte("\t// +kubebuilder"), []byte(i.text+"\t// +kubebuilder"), 1), nil
}

func (i inserted) Remove(src []byte) ([]byte, int) { return src, 0 }

package plan

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// applied is a plan that created, changed, moved and deleted a file, and what of them was there before.
func applied(t *testing.T) (*Plan, string) {
	t.Helper()
	p, root := emptyPlan(t)
	for _, name := range []string{"changed", "moved", "deleted"} {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(name), 0o640))
	}
	must(t, p.Create("new/created", []byte("created")))
	must(t, p.Write("changed", []byte("changed!")))
	must(t, p.Move("moved", "new/moved"))
	must(t, p.Remove("deleted"))
	must(t, p.Apply(report.Discard))
	return p, root
}

// TestTakeBack: every file is as it was, those that followed from the plan too, and empty folders go.
func TestTakeBack(t *testing.T) {
	p, root := applied(t)
	must(t, os.WriteFile(filepath.Join(root, "generated"), []byte("2"), 0o644))
	must(t, os.WriteFile(filepath.Join(root, "changed"), []byte("generated again"), 0o644))
	must(t, p.TakeBack([]Replaced{{Path: "fetched"}}, []Replaced{{Path: "generated", Existed: true, Before: []byte("1")}, {Path: "changed", Existed: true, Before: []byte("changed!")}}))
	for name, want := range map[string]string{"changed": "changed", "moved": "moved", "deleted": "deleted", "generated": "1"} {
		if got := read(t, root, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	info, err := os.Stat(filepath.Join(root, "deleted"))
	must(t, err)
	if info.Mode().Perm() != 0o640 {
		t.Errorf("the deleted file has the mode %v now", info.Mode())
	}
	if _, err := os.Stat(filepath.Join(root, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new folder is there: %v", err)
	}
}

// TestTakeBackRefusesChangedFile: a file that was changed since makes everything stay.
func TestTakeBackRefusesChangedFile(t *testing.T) {
	p, root := applied(t)
	must(t, os.WriteFile(filepath.Join(root, "changed"), []byte("mine"), 0o644))
	var refusal *report.Error
	if err := p.TakeBack(nil, nil); !errors.As(err, &refusal) || refusal.Where != "changed" {
		t.Errorf("got %v", err)
	}
	for name, want := range map[string]string{"changed": "mine", "new/created": "created", "new/moved": "moved"} {
		if got := read(t, root, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
}

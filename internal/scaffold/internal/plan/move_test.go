package plan

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
)

// TestMove: a moved file keeps its mode, its merge base goes with it, edits apply to
// both, and the folder that is empty then is gone.
func TestMove(t *testing.T) {
	p, root := emptyPlan(t)
	must(t, p.Create("deep/er/old", []byte("as scaffolded")))
	must(t, p.Finish())
	must(t, p.Apply(report.Discard))
	must(t, os.WriteFile(filepath.Join(root, "deep/er/old"), []byte("as edited"), 0o644))
	must(t, os.Chmod(filepath.Join(root, "deep/er/old"), 0o700))

	p, err := New(fileview.Disk(root))
	must(t, err)
	must(t, p.Move("deep/er/old", "deep/new"))
	must(t, p.Edit("deep/new", func(_ string, src []byte) ([]byte, error) { return append(src, '!'), nil }))
	must(t, p.Finish())
	must(t, p.Apply(report.Discard))

	info, err := os.Stat(filepath.Join(root, "deep/new"))
	must(t, err)
	if got := read(t, root, "deep/new"); got != "as edited!" || info.Mode().Perm() != 0o700 {
		t.Errorf("the moved file holds %q, with mode %v", got, info.Mode())
	}
	if _, err := os.Stat(filepath.Join(root, "deep/er")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder is there: %v", err)
	}
	b, err := base.Read(fileview.Disk(root))
	must(t, err)
	if got, _ := b.File("deep/new"); string(got) != "as scaffolded!" {
		t.Errorf("the base of the moved file is %q", got)
	}
	if _, ok := b.File("deep/er/old"); ok {
		t.Error("the base has the old path too")
	}
}

// TestMoveRefusesOccupiedPlace: what is there stays, and its path is told.
func TestMoveRefusesOccupiedPlace(t *testing.T) {
	p, root := emptyPlan(t)
	must(t, os.WriteFile(filepath.Join(root, "from"), []byte("mine"), 0o644))
	must(t, os.WriteFile(filepath.Join(root, "to"), []byte("mine too"), 0o644))
	must(t, p.Move("from", "to"))
	var refusal *report.Error
	if err := p.Finish(); !errors.As(err, &refusal) || refusal.Where != "to" {
		t.Errorf("got %v", err)
	}
}

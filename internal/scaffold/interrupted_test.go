package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestInterrupted: beside what a killed command left plans can be made and looked at, and none is applied; Hold stops
// at what is not ours.
func TestInterrupted(t *testing.T) {
	root := newProject(t, Project{})
	must(t, os.Mkdir(filepath.Join(root, ".slipway", "pending"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, ".slipway", "pending", "0.new"), []byte("half a fi"), 0o644))
	before := tree(t, root)
	if !Interrupted(root) {
		t.Error("nothing is seen of it")
	}
	for _, v := range verbs(Project{}) {
		plan, err := v.plan(root)
		if err != nil || plan.Empty() {
			continue // it needs another one before it
		}
		if err := plan.Apply(report.Discard); err == nil {
			t.Errorf("%s: it was applied", v.name)
		}
	}
	locks := t.TempDir()
	_, err := Hold(t.Context(), root, Folders{Keys: t.TempDir(), Locks: func() (string, error) { return locks, nil }}, report.Discard)
	if refusal, ok := errors.AsType[*report.Error](err); !ok || filepath.Base(refusal.Where) != "pending" || refusal.Hint == "" {
		t.Errorf("got %v", err)
	}
	if diff := treeDiff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

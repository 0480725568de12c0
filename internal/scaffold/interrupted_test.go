package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestInterrupted: what a killed command left is refused by plans and taken back by Hold.
func TestInterrupted(t *testing.T) {
	root := newProject(t, Project{})
	before := tree(t, root)
	must(t, os.Mkdir(filepath.Join(root, ".slipway", "pending"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, ".slipway", "pending", "0.new"), []byte("half a fi"), 0o644))
	for _, v := range verbs(Project{}) {
		_, err := v.plan(root)
		if refusal, ok := errors.AsType[*report.Error](err); !ok || !strings.HasSuffix(refusal.Where, "pending") || refusal.Hint == "" {
			t.Errorf("%s: got %v", v.name, err)
		}
	}
	release, err := Hold(t.Context(), root, t.TempDir(), report.Discard)
	must(t, err)
	release()
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}

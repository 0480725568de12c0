package generate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// TestReplacedIsFinite: a repository may have a file without an end, or with holes alone, in the place of a generated
// one. It is not read to be taken back.
func TestReplacedIsFinite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := errors.Join(os.WriteFile(file, nil, 0o644), os.Truncate(file, 1<<40)); err != nil {
		t.Skipf("no file with holes: %v", err)
	}
	err := noteReplaced([]File{{Path: file, Action: report.Updated}}, func(string, []byte) { t.Error("it was read") })
	if !errors.Is(err, safefs.ErrLarge) {
		t.Errorf("the error is %v", err)
	}
}

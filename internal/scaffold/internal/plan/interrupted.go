package plan

import (
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/transaction"
)

// refuseInterrupted refuses to plan on what an interrupted command left.
func refuseInterrupted(root string) error {
	if !transaction.Interrupted(root) {
		return nil
	}
	return &report.Error{
		What: "an earlier command was interrupted, or is still at work", Where: filepath.Join(root, ".slipway", "pending"),
		Hint: "run it again, without --dry-run and --diff: what it left is taken back first",
	}
}

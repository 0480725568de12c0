package operation

import (
	"github.com/slipway-dev/slipway/internal/report"
)

// Preview asks for what an operation would do, in place of doing it: as a list, or as a diff.
type Preview struct{ DryRun, Diff bool }

// Only reports whether nothing is to be changed.
func (p Preview) Only() bool { return p.DryRun || p.Diff }

// PlannedWord is what an action is called before it is taken.
var PlannedWord = map[report.Action]string{report.Created: "create", report.Updated: "update", report.Deleted: "delete", report.Moved: "move", report.Kept: "keep", report.Unchanged: "leave"}

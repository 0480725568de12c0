package operation

import (
	"github.com/slipway-dev/slipway/internal/report"
)

// A Preview asks an operation to show what it would do, as a list or as a diff, instead of doing it.
type Preview struct{ DryRun, Diff bool }

// Only reports whether nothing may be changed.
func (p Preview) Only() bool { return p.DryRun || p.Diff }

// PlannedWord maps actions to the imperative form that previews print.
var PlannedWord = map[report.Action]string{report.Created: "create", report.Updated: "update", report.Deleted: "delete", report.Moved: "move", report.Kept: "keep", report.Unchanged: "leave"}

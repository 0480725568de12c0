package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// changeFlags are the flags of every verb that changes the project's own files.
type changeFlags struct{ dryRun, diff bool }

func (f *changeFlags) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&f.dryRun, "dry-run", false, "list what would be done to which file, and write nothing")
	flags.BoolVar(&f.diff, "diff", false, "show what would be done as a diff, and write nothing")
}

// preview reports whether nothing is to be written.
func (f changeFlags) preview() bool { return f.dryRun || f.diff }

// change makes a plan for the project in folder root and applies it, while no other
// command changes the project; then does what follows from it, such as generating. With
// --dry-run or --diff it shows the plan instead.
func (inv *invocation) change(ctx context.Context, root string, f changeFlags, plan func() (*scaffold.Plan, error), then func() error) error {
	if f.preview() {
		inv.warnInterrupted(root)
		planned, err := plan()
		if err != nil {
			return scaffold.Remedy(ctx, root, err)
		}
		inv.showPlan(planned, f)
		return nil
	}
	release, err := inv.hold(ctx, root)
	if err != nil {
		return err
	}
	defer release()
	planned, err := plan()
	if err != nil {
		return scaffold.Remedy(ctx, root, err)
	}
	if err := inv.apply(planned); err != nil {
		return err
	}
	return then()
}

// hold waits until no other command changes the project, and keeps others from it until release is called.
func (inv *invocation) hold(ctx context.Context, root string) (release func(), err error) {
	return scaffold.Hold(ctx, root, inv.ownFolders(), inv.handler)
}

// warnInterrupted says that what is shown is planned on what a command left, or is still at.
func (inv *invocation) warnInterrupted(root string) {
	if scaffold.Interrupted(root) {
		inv.handler.Handle(report.Warning{Text: "an earlier command was interrupted, or another one is at work: what is shown follows from files of which some may be old and some new (" + filepath.Join(root, ".slipway", "pending") + ")"})
	}
}

// apply applies a plan; of one that changes nothing it tells what is kept.
func (inv *invocation) apply(plan *scaffold.Plan) error {
	if !plan.Empty() {
		plan.SealWith(inv.ownFolders().Keys)
		return plan.Apply(inv.handler)
	}
	for _, file := range plan.Changes() {
		if file.Action == report.Kept {
			inv.handler.Handle(file)
		}
	}
	inv.noteNothing(plan)
	return nil
}

// noteNothing says why there is nothing to do.
func (inv *invocation) noteNothing(plan *scaffold.Plan) {
	text := "Nothing to do: " + cmp.Or(plan.Because(), "the project has that already")
	if !strings.ContainsAny(text, "?\n") {
		text += "."
	}
	inv.handler.Handle(report.Note{Text: text})
}

// nothing follows from a change.
func nothing() error { return nil }

// plannedChanges is the JSON form of a plan that is not applied.
type plannedChanges struct {
	DryRun  bool                  `json:"dryRun"`
	Changes []scaffold.Difference `json:"changes"`
}

// showPlan answers with what a plan would do.
func (inv *invocation) showPlan(plan *scaffold.Plan, f changeFlags) {
	changes := plan.Differences(f.diff)
	var text strings.Builder
	for _, c := range changes {
		if f.diff {
			text.WriteString(c.Diff)
			continue
		}
		text.WriteString(planned(c) + "\n")
	}
	inv.handler.Handle(report.Result{Text: strings.TrimSuffix(text.String(), "\n"), Value: plannedChanges{DryRun: true, Changes: changes}})
	if plan.Empty() {
		inv.noteNothing(plan)
		return
	}
	inv.handler.Handle(report.Note{Text: "Nothing was written. Without --dry-run and --diff it is."})
}

// plannedWord is what an action is called before it is taken.
var plannedWord = map[report.Action]string{report.Created: "create", report.Updated: "update", report.Deleted: "delete", report.Moved: "move", report.Kept: "keep", report.Unchanged: "leave"}

// planned reads `create cmd/main.go`.
func planned(c scaffold.Difference) string {
	line := plannedWord[c.Action] + " " + report.File{Path: c.Path, From: c.From}.Name()
	if c.Why != "" {
		line += " (" + c.Why + ")"
	}
	return line
}

// ownFolders are in the user's cache or, when there is none, where the system has files that do not last. Locks must be the
// same ones for all commands of a user: SLIPWAY_CACHE does not move them. The key is not kept where others might put one.
func (inv *invocation) ownFolders() scaffold.Folders {
	var own scaffold.Folders
	cache, err := os.UserCacheDir()
	if err == nil {
		own.Keys = filepath.Join(cache, "slipway", "journal")
	} else {
		cache = filepath.Join(os.TempDir(), fmt.Sprintf("slipway-%d", os.Getuid()))
	}
	if folder := inv.Getenv("SLIPWAY_CACHE"); folder != "" {
		own.Keys = filepath.Join(folder, "journal")
	}
	own.Locks = filepath.Join(cache, "slipway", "locks")
	return own
}

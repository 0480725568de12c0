package operation

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/cachefolder"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// Preview asks for what an operation would do, in place of doing it: as a list, or as a diff.
type Preview struct{ DryRun, Diff bool }

// only reports whether nothing is to be changed.
func (p Preview) only() bool { return p.DryRun || p.Diff }

// change is changeAndThen for what follows from changes alone, such as generating. When that fails, the changes are
// taken back.
func (s *Session) change(ctx context.Context, root string, p Preview, plan func() (*scaffold.Plan, error), then func() error) error {
	var planned *scaffold.Plan
	return s.changeAndThen(ctx, root, p, func() (made *scaffold.Plan, err error) {
		planned, err = plan()
		return planned, err
	}, func(changed bool) error {
		if !changed || s.warnVendor(root) {
			return nil
		}
		return s.orTakeBack(planned, then)
	})
}

// changeAndThen makes a plan for the project in folder root and applies it, while no other
// command changes the project; then does what follows from it. A preview shows the plan instead.
func (s *Session) changeAndThen(ctx context.Context, root string, p Preview, plan func() (*scaffold.Plan, error), then func(changed bool) error) error {
	if p.only() {
		s.warnInterrupted(root)
		s.Handler.Handle(planning())
		planned, err := plan()
		if err != nil {
			return err
		}
		s.showPlan(planned, p)
		return nil
	}
	release, err := s.hold(ctx, root)
	if err != nil {
		return err
	}
	defer release()
	s.Handler.Handle(planning())
	planned, err := plan()
	if err != nil {
		return err
	}
	defer ending.Await(ctx, "the change of the project")() // which is made, or taken back
	if err := s.apply(planned); err != nil {
		return err
	}
	return then(!planned.Empty())
}

// planning is the first step of a change, which takes seconds in a large project.
func planning() report.Step { return report.Step{Name: "planning the change"} }

// hold waits until no other command changes the project, and keeps others from it until release is called.
func (s *Session) hold(ctx context.Context, root string) (release func(), err error) {
	return scaffold.Hold(ctx, root, s.ownFolders(), s.Handler)
}

// warnInterrupted says that what is shown is planned on what a command left, or is still at.
func (s *Session) warnInterrupted(root string) {
	if scaffold.Interrupted(root) {
		s.Handler.Handle(report.Warning{Text: "an earlier command was interrupted, or another one is running: some files may be old and others new, and the preview with them (" + filepath.Join(root, ".slipway", "pending") + ")"})
	}
}

// apply applies a plan; of one that changes nothing it tells what is kept.
func (s *Session) apply(plan *scaffold.Plan) error {
	if !plan.Empty() {
		plan.SealWith(s.ownFolders().Keys)
		return plan.Apply(s.Handler)
	}
	for _, file := range plan.Changes() {
		if file.Action == report.Kept {
			s.Handler.Handle(file)
		}
	}
	s.noteNothing(plan)
	return nil
}

// noteNothing says why there is nothing to do.
func (s *Session) noteNothing(plan *scaffold.Plan) {
	text := "Nothing to do: " + cmp.Or(plan.Because(), "the project is as asked already")
	if !strings.ContainsAny(text, "?\n") {
		text += "."
	}
	s.Handler.Handle(report.Note{Text: text})
}

// nothing follows from a change.
func nothing() error { return nil }

// plannedChanges is the JSON form of a plan that is not applied.
type plannedChanges struct {
	DryRun  bool                  `json:"dryRun"`
	Changes []scaffold.Difference `json:"changes"`
}

// showPlan answers with what a plan would do.
func (s *Session) showPlan(plan *scaffold.Plan, p Preview) {
	changes := plan.Differences(p.Diff)
	var text strings.Builder
	for _, c := range changes {
		if p.Diff {
			text.WriteString(c.Diff)
			continue
		}
		text.WriteString(planned(c) + "\n")
	}
	s.Handler.Handle(report.Result{Text: strings.TrimSuffix(text.String(), "\n"), Value: plannedChanges{DryRun: true, Changes: changes}})
	if plan.Empty() {
		s.noteNothing(plan)
		return
	}
	for _, left := range plan.Left() {
		s.Handler.Handle(report.Warning{Text: left})
	}
	s.Handler.Handle(report.Note{Text: "No file was written. Run the command without --dry-run and --diff to write them."})
}

// plannedWord is what an action is called before it is taken.
var plannedWord = map[report.Action]string{report.Created: "create", report.Updated: "update", report.Deleted: "delete", report.Moved: "move", report.Kept: "keep", report.Unchanged: "leave"}

// planned reads `create cmd/main.go`.
func planned(c scaffold.Difference) string {
	line := plannedWord[c.Action] + " " + report.File{Path: c.Path, From: c.From}.Name()
	switch {
	case c.Why != "":
		line += " (" + c.Why + ")"
	case c.Action == report.Unchanged:
		line += " (it needs no change)"
	}
	return line
}

// ownFolders are where locks and the key of journals are. The key is not kept where others might put one.
func (s *Session) ownFolders() scaffold.Folders {
	own := scaffold.Folders{Locks: cachefolder.Locks}
	if cache, err := cachefolder.Root(s.Getenv); err == nil {
		own.Keys = filepath.Join(cache, "journal")
	}
	return own
}

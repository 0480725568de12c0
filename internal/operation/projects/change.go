package projects

import (
	"cmp"
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// MakeChange makes a plan for the project in folder root and applies it, while no other command changes the project;
// then, if that changed something, it does what follows, such as generating. When that fails, the changes are taken
// back. Nothing follows where that has made a vendor folder old, which is warned of. It returns the changes, and the
// files that were kept as they were; a preview shows them instead, and returns those that it would make.
func MakeChange(ctx context.Context, s *operation.Session, root string, p operation.Preview, plan func() (*scaffold.Plan, error), then func() error) ([]report.File, error) {
	var planned *scaffold.Plan
	return changeAndThen(ctx, s, root, p, func() (made *scaffold.Plan, err error) {
		planned, err = plan()
		return planned, err
	}, func(changed bool) error {
		if !changed || operation.WarnStaleVendor(s, root) {
			return nil
		}
		return orTakeBack(s, planned, then)
	})
}

// changeAndThen is MakeChange for what follows also where nothing was changed, and takes nothing back.
func changeAndThen(ctx context.Context, s *operation.Session, root string, p operation.Preview, plan func() (*scaffold.Plan, error), then func(changed bool) error) ([]report.File, error) {
	if p.Only() {
		operation.WarnInterrupted(s, root)
		s.Handler.Handle(planning())
		planned, err := plan()
		if err != nil {
			return nil, err
		}
		showPlan(s, planned, p)
		return changes(planned), nil
	}
	release, err := operation.Hold(ctx, s, root)
	if err != nil {
		return nil, err
	}
	defer release()
	s.Handler.Handle(planning())
	planned, err := plan()
	if err != nil {
		return nil, err
	}
	defer ending.Await(ctx, "the change of the project")() // which is made, or taken back
	if err := apply(s, planned); err != nil {
		return nil, err
	}
	if err := then(!planned.Empty()); err != nil {
		return nil, err
	}
	return changes(planned), nil
}

// changes are those of a plan and what it keeps; none of one that changes nothing.
func changes(plan *scaffold.Plan) []report.File {
	if plan.Empty() {
		return nil
	}
	return plan.Changes()
}

// planning is the first step of a change, which takes seconds in a large project.
func planning() report.Step { return report.Step{Name: "planning the change"} }

// apply applies a plan; of one that changes nothing it reports what is kept.
func apply(s *operation.Session, plan *scaffold.Plan) error {
	if !plan.Empty() {
		plan.SealWith(operation.OwnFolders(s).Keys)
		return plan.Apply(s.Handler)
	}
	for _, file := range plan.Changes() {
		if file.Action == report.Kept {
			s.Handler.Handle(file)
		}
	}
	noteNothing(s, plan)
	return nil
}

// noteNothing says why there is nothing to do.
func noteNothing(s *operation.Session, plan *scaffold.Plan) {
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
func showPlan(s *operation.Session, plan *scaffold.Plan, p operation.Preview) {
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
		noteNothing(s, plan)
		return
	}
	for _, left := range plan.Left() {
		s.Handler.Handle(report.Warning{Text: left})
	}
	s.Handler.Handle(report.Note{Text: "No file was written. Run the command without --dry-run and --diff to write them."})
}

// planned reads `create cmd/main.go`.
func planned(c scaffold.Difference) string {
	line := operation.PlannedWord[c.Action] + " " + report.File{Path: c.Path, From: c.From}.Name()
	switch {
	case c.Why != "":
		line += " (" + c.Why + ")"
	case c.Action == report.Unchanged:
		line += " (it needs no change)"
	}
	return line
}

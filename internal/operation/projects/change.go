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

// MakeChange applies a plan for the project in root, under the project's lock. If that changed files it calls then, for
// example to generate. If then fails, the change is undone. Then is skipped, with a warning, if the change made a
// vendor folder stale. It returns the changed and the kept files. A preview shows them instead and returns those that
// it would change.
func MakeChange(ctx context.Context, s *operation.Session, root string, p operation.Preview, plan func() (*scaffold.Plan, error), then func() error) ([]report.File, error) {
	var planned *scaffold.Plan
	return changeAndThen(ctx, s, root, p, func() (made *scaffold.Plan, err error) {
		planned, err = plan()
		return planned, err
	}, func(changed bool) error {
		if !changed || operation.WarnStaleVendor(s, root) {
			return nil
		}
		return undoOnFailure(s, planned, then)
	})
}

// changeAndThen is like [MakeChange], but always calls then and undoes nothing.
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
	defer ending.Await(ctx, "the change of the project")() // the change is completed or undone before the process ends
	if err := apply(s, planned); err != nil {
		return nil, err
	}
	if err := then(!planned.Empty()); err != nil {
		return nil, err
	}
	return changes(planned), nil
}

// changes returns the changed and kept files of a plan, or nil if it changes nothing.
func changes(plan *scaffold.Plan) []report.File {
	if plan.Empty() {
		return nil
	}
	return plan.Changes()
}

// planning returns the first step of a change, which takes seconds in a large project.
func planning() report.Step { return report.Step{Name: "planning the change"} }

// apply applies a plan. If it changes nothing, it reports the kept files and why.
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

// noteNothing reports why a plan changes nothing.
func noteNothing(s *operation.Session, plan *scaffold.Plan) {
	text := "Nothing to do: " + cmp.Or(plan.Because(), "the project is as asked already")
	if !strings.ContainsAny(text, "?\n") {
		text += "."
	}
	s.Handler.Handle(report.Note{Text: text})
}

// noFollowUp is for changes after which nothing is generated.
func noFollowUp() error { return nil }

type plannedChanges struct {
	DryRun  bool                  `json:"dryRun"`
	Changes []scaffold.Difference `json:"changes"`
}

// showPlan reports what a plan would do.
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

// planned formats a change such as `create cmd/main.go`.
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

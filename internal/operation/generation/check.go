package generation

import (
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// Check compares the generated files with those on disk, and writes nothing. If some differ it fails with a diff, and
// returns which.
func Check(ctx context.Context, s *operation.Session, g Generation) (CheckSummary, error) {
	root, err := operation.GeneratedRoot(s)
	if err != nil {
		return CheckSummary{}, err
	}
	plan, result, err := plannedRun(ctx, s, root, g, generate.Options{Strict: g.Strict, DryRun: true, Cache: RunsFolder(s), Within: g.Outside})
	if err != nil {
		return CheckSummary{}, err
	}
	if err := checkDefinitions(ctx, s, root, result, g.Strict); err != nil {
		return CheckSummary{}, err
	}
	if err := checkSamples(ctx, s, root, plan, result, g.Strict); err != nil {
		return CheckSummary{}, err
	}
	stale, err := plan.Stale(result.Files)
	if err != nil {
		return CheckSummary{}, err
	}
	if err := reportLeftovers(s, root, plan, result, Generation{}); err != nil {
		return CheckSummary{}, err
	}
	if len(stale) == 0 {
		fresh := CheckSummary{Files: len(result.Files), Stale: []regenerate.Difference{}}
		s.Handler.Handle(report.Result{Text: "nothing is stale: " + operation.Count(len(result.Files), "generated file") + " up to date" + notComparedNote(plan), Value: fresh})
		return fresh, nil
	}
	var diffs strings.Builder
	for _, d := range stale {
		diffs.WriteString(d.Diff)
	}
	checked := CheckSummary{Files: len(result.Files), Stale: stale}
	s.Handler.Handle(report.Result{Text: diffs.String(), Value: checked})
	verb := " are"
	if len(stale) == 1 {
		verb = " is"
	}
	out := &report.Error{What: operation.Count(len(stale), "generated file") + verb + " out of date", Where: root, Next: "slipway generate"}
	if source, version := plan.Other(); version != "" {
		out.Hint = "the files are compared with those of controller-gen " + generate.ControllerGen + "; " + source + " " + version + ", which may write other ones"
	}
	return checked, out
}

// notComparedNote notes that the project's own recipes generate more than was compared, or returns "".
func notComparedNote(plan regenerate.Plan) string {
	command := plan.Command()
	if command == "" {
		return ""
	}
	return "; what else " + command + " makes was not compared"
}

// CheckSummary is the result of [Check]; the JSON form is stable.
type CheckSummary struct {
	Files int                     `json:"files"`
	Stale []regenerate.Difference `json:"stale"`
}

// reportLeftovers warns of CRDs whose kind is gone or that a recipe deletes, or deletes them with --prune. A CRD that a
// kustomization lists stays: that kustomization would not build without it.
func reportLeftovers(s *operation.Session, root string, plan regenerate.Plan, result generate.Result, g Generation) error {
	left, err := regenerate.Leftovers(plan, result.Files)
	if err != nil || len(left) == 0 {
		return err
	}
	config, err := s.Codebase(root).Config()
	if err != nil {
		return err
	}
	var unlisted []string
	for _, path := range left {
		name, why := regenerate.Relative(root, path), "but its kind no longer exists"
		if plan.Removes(path) {
			why = "and a recipe of the Makefile removes it"
		}
		if by := append(config.ListedBy(name), config.NamedBy(name)...); len(by) > 0 {
			s.Handler.Handle(report.Warning{Text: name + " is generated, " + why + "; it stays, since " + config.File(by[0]) + " lists it"})
			continue
		}
		unlisted = append(unlisted, path)
		if !g.Prune {
			s.Handler.Handle(report.Warning{Text: name + " is generated, " + why + "; slipway generate --prune deletes it"})
		}
	}
	if !g.Prune || len(unlisted) == 0 {
		return nil
	}
	if err := config.Unread(); err != nil {
		return &report.Error{What: "generated files that are left over stay, since not all kustomizations are known: one may list them", Where: regenerate.Relative(root, unlisted[0]), Err: err,
			Hint: "mend what cannot be read and run the command again, or delete the files by hand"}
	}
	if err := regenerate.Prune(plan, g.Outside, unlisted); err != nil {
		return err
	}
	for _, path := range unlisted {
		s.Handler.Handle(report.File{Path: regenerate.Relative(root, path), Action: report.Deleted})
	}
	return nil
}

package cli

import (
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
)

// checkGenerated is `slipway generate --check`.
func (inv *invocation) checkGenerated(ctx context.Context, root string, flags generateFlags) error {
	_, result, err := inv.plannedRun(ctx, root, generate.Options{Strict: flags.strict, DryRun: true, Cache: inv.runsFolder(), Within: flags.outside})
	if err != nil {
		return err
	}
	if err := inv.checkDefinitions(ctx, root, result, flags.strict); err != nil {
		return err
	}
	stale, err := regenerate.Stale(root, result.Files)
	if err != nil {
		return err
	}
	if len(stale) == 0 {
		inv.handler.Handle(report.Result{
			Text:  "nothing is stale: " + count(len(result.Files), "generated file") + " up to date",
			Value: checkSummary{Files: len(result.Files), Stale: []regenerate.Difference{}},
		})
		return nil
	}
	var diffs strings.Builder
	for _, d := range stale {
		diffs.WriteString(d.Diff)
	}
	inv.handler.Handle(report.Result{Text: diffs.String(), Bare: true, Value: checkSummary{Files: len(result.Files), Stale: stale}})
	verb := " are"
	if len(stale) == 1 {
		verb = " is"
	}
	return &report.Error{What: count(len(stale), "generated file") + verb + " not what the code says", Where: root, Next: "slipway generate"}
}

// checkSummary is the JSON form of what --check found.
type checkSummary struct {
	Files int                     `json:"files"`
	Stale []regenerate.Difference `json:"stale"`
}

// tellLeftovers tells of CRDs whose kind is gone, or deletes them.
func (inv *invocation) tellLeftovers(root string, plan regenerate.Plan, result generate.Result, flags generateFlags) error {
	prune := flags.prune
	left, err := regenerate.Leftovers(plan, result.Files)
	if err != nil {
		return err
	}
	if prune {
		if err := regenerate.Prune(plan, flags.outside, left); err != nil {
			return err
		}
	}
	for _, path := range left {
		name := regenerate.Relative(root, path)
		if prune {
			inv.handler.Handle(report.File{Path: name, Action: report.Deleted})
			continue
		}
		inv.handler.Handle(report.Warning{Text: name + " is generated, and no kind makes it any longer; to delete it: slipway generate --prune"})
	}
	return nil
}

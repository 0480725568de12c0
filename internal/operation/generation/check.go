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
		fresh := CheckSummary{Files: len(result.Files), Stale: []regenerate.Difference{}, Left: leftIn(root, result), ControllerGen: plan.Pin().Version}
		s.Handler.Handle(report.Result{Text: "nothing is stale: " + operation.Count(len(result.Files), "generated file") + " up to date" + notComparedNote(plan), Value: fresh})
		return fresh, nil
	}
	var diffs strings.Builder
	for _, d := range stale {
		diffs.WriteString(d.Diff)
	}
	checked := CheckSummary{Files: len(result.Files), Stale: stale, Left: leftIn(root, result), ControllerGen: plan.Pin().Version}
	s.Handler.Handle(report.Result{Text: diffs.String(), Value: checked})
	verb := " are"
	if len(stale) == 1 {
		verb = " is"
	}
	out := &report.Error{What: operation.Count(len(stale), "generated file") + verb + " out of date", Where: root, Next: "slipway generate"}
	if g.ControllerGen != "" {
		out.Next += " --controller-gen-version " + g.ControllerGen
	}
	if source, version := plan.Later(); version != "" {
		out.Hint = "the files are compared with those of controller-gen " + generate.Newest + "; " + source + " " + version + ", which may write other ones"
	}
	return checked, out
}

// leftIn returns the files that a run left to the project's recipes, relative to the project.
func leftIn(root string, result generate.Result) (files []string) {
	for _, file := range result.Left {
		files = append(files, regenerate.Relative(root, file))
	}
	return files
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
	Left  []string                `json:"left,omitempty"` // files that the project's recipes edit, and that were not compared
	// ControllerGen is the version of controller-gen whose files were compared.
	ControllerGen string `json:"controllerGen"`
}

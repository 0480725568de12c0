package generation

import (
	"context"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// EnsureGenerated brings generated files up to date before something is built from them. With look it writes nothing
// and returns the contents that differ from the disk, by absolute path. With asTheyAre it does nothing.
func EnsureGenerated(ctx context.Context, s *operation.Session, root string, g Generation, look, asTheyAre bool) (map[string][]byte, error) {
	switch {
	case asTheyAre:
		return nil, nil
	case look:
		return GenerateInMemory(ctx, s, root, g)
	}
	_, err := Regenerate(ctx, s, root, g)
	return nil, err
}

// Regenerate brings generated files up to date for a command that uses them, under the project's lock. It returns the
// action for each file; there are none if nothing says what to generate.
func Regenerate(ctx context.Context, s *operation.Session, root string, g Generation) (generate.Result, error) {
	release, err := operation.Hold(ctx, s, root)
	if err != nil {
		return generate.Result{}, err
	}
	defer release()
	return generateFor(ctx, s, root, nil, g)
}

// GenerateInMemory returns the contents of generated files that are out of date, by absolute path, and writes nothing.
func GenerateInMemory(ctx context.Context, s *operation.Session, root string, g Generation) (map[string][]byte, error) {
	operation.WarnInterrupted(s, root)
	plan, findings, err := plan(s, root, "")
	if err != nil {
		return nil, err
	}
	if plan.Refusal() != nil {
		reportUnfollowed(s, root, plan, findings)
		return nil, nil
	}
	_, result, err := plannedRun(ctx, s, root, g, generate.Options{DryRun: true, Cache: RunsFolder(s)})
	if err != nil {
		return nil, err
	}
	texts := make(map[string][]byte)
	for _, f := range result.Files {
		if f.Action == report.Created || f.Action == report.Updated {
			texts[f.Path] = f.Content
		}
	}
	if len(texts) > 0 {
		s.Handler.Handle(report.Note{Text: operation.Count(len(texts), "generated file") + " out of date and not written: the output has the new content; slipway generate writes it"})
	}
	return texts, nil
}

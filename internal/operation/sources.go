package operation

import (
	"context"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

// sources sees to it that what is built from the project follows from its code. Those who only look get what
// differs from the disk, by absolute path, and nothing is written. With asTheyAre the files count.
func (s *Session) sources(ctx context.Context, root string, g Generation, look, asTheyAre bool) (map[string][]byte, error) {
	switch {
	case asTheyAre:
		return nil, nil
	case look:
		return s.generateInMemory(ctx, root, g)
	}
	return nil, s.regenerate(ctx, root, g)
}

// regenerate brings generated files up to date, before a command that uses them.
func (s *Session) regenerate(ctx context.Context, root string, g Generation) error {
	release, err := s.hold(ctx, root)
	if err != nil {
		return err
	}
	defer release()
	return s.generateFor(ctx, root, nil, g)
}

// generateInMemory returns the texts that generated files would get, of those that are out of date.
func (s *Session) generateInMemory(ctx context.Context, root string, g Generation) (map[string][]byte, error) {
	s.warnInterrupted(root)
	plan, findings, err := s.plan(root)
	if err != nil {
		return nil, err
	}
	if plan.Refusal() != nil {
		s.reportUnfollowed(root, plan, findings)
		return nil, nil
	}
	_, result, err := s.plannedRun(ctx, root, g, generate.Options{DryRun: true, Cache: s.runsFolder()})
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
		s.Handler.Handle(report.Note{Text: count(len(texts), "generated file") + " out of date and not written: the output has the new content; slipway generate writes it"})
	}
	return texts, nil
}

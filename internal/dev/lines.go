package dev

import (
	"context"

	"github.com/slipway-dev/slipway/internal/clusterctl"
)

// Lines returns what brings the manager's log into the record of the cluster; nil if the cluster has none, as one that
// is not slipway's own.
func (s *Session) Lines(ctx context.Context, operator string) *clusterctl.Lines {
	if !s.own || s.options.Control == nil {
		return nil
	}
	lines, err := s.options.Control.OpenLines(ctx, s.home.Name, operator)
	if err != nil {
		return nil // the manager runs without it
	}
	return lines
}

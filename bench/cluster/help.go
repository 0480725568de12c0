package main

import (
	"context"
	"os/exec"
	"path/filepath"

	"github.com/slipway-dev/slipway/bench/sidebyside"
)

const helpWall quantity = "help"

// help measures the question that envtest asks before each start.
func help(ctx context.Context, b *bench) ([]sidebyside.Figure, error) {
	folders := map[side]string{ours: b.slipwayAssets, peer: b.stockAssets}
	s, err := b.rounds(ctx, "help", func(ctx context.Context, s series) error {
		for _, c := range b.contenders() {
			took, err := timed(func() error {
				_, err := exec.CommandContext(ctx, filepath.Join(folders[c.side], "kube-apiserver"), "--help").CombinedOutput() // as envtest does
				return err
			})
			if err != nil {
				return err
			}
			s.add(c.side, helpWall, milliseconds(took))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	const bar = 50
	return []sidebyside.Figure{s.figure(helpWall, "ms", "kube-apiserver --help", sidebyside.AtMost(bar))}, nil
}

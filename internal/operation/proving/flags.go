package proving

import (
	"errors"
	"fmt"

	"mvdan.cc/sh/v3/shell"

	"github.com/slipway-dev/slipway/internal/report"
)

// badFlag says that a flag cannot be right.
func badFlag(where, hint string) error {
	return &report.Error{What: "the proof has a flag that cannot be right", Where: where, Hint: hint, Code: report.UsageCode}
}

// check reads what the user has given.
func (b *bench) check() error {
	if b.proof.Shard != "" {
		if n, err := fmt.Sscanf(b.proof.Shard, "%d/%d", &b.shard, &b.shards); n != 2 || err != nil || b.shard < 1 || b.shard > b.shards {
			return badFlag("--shard "+b.proof.Shard, "use K/N, such as 3/8")
		}
	}
	if b.proof.Clusters < 1 || b.proof.Clusters > maxClusters {
		return badFlag(fmt.Sprintf("--clusters %d", b.proof.Clusters), fmt.Sprintf("use a number from 1 to %d", maxClusters))
	}
	if b.proof.Depth < 1 || b.proof.Depth > 2 {
		return badFlag(fmt.Sprintf("--depth %d", b.proof.Depth), "use 1 or 2")
	}
	if b.proof.Plans < 0 {
		return badFlag(fmt.Sprintf("--plans %d", b.proof.Plans), "use the number of plans, or 0 for all")
	}
	if b.proof.Budget < 0 {
		return badFlag("--budget "+b.proof.Budget.String(), "use a duration such as 60s")
	}
	if err := errors.Join(b.CheckReportFile("--junit", b.proof.JUnit), b.CheckReportFile("--html", b.proof.HTML)); err != nil {
		return err
	}
	if err := b.read(); err != nil {
		return err
	}
	if err := b.readCommand(); err != nil {
		return err
	}
	return b.checkReplay()
}

// readCommand reads the operator's command that the user has given.
func (b *bench) readCommand() error {
	if b.proof.Command == "" {
		return nil
	}
	if len(b.operators) > 0 {
		return badFlag("--command "+b.proof.Command, "the scenario names several operators")
	}
	words, err := shell.Fields(b.proof.Command, func(string) string { return "" })
	if err != nil || len(words) == 0 {
		return badFlag("--command "+b.proof.Command, "name a program and its arguments")
	}
	b.command = words
	return nil
}

// maxClusters bounds how many clusters run side by side: each has an API server and controllers.
const maxClusters = 16

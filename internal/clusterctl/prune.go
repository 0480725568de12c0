package clusterctl

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// pruneTime bounds the removal of images, which takes moments for each.
const pruneTime = 2 * time.Minute

// PrunedImage is a superseded image that was removed, or would be.
type PrunedImage = protocol.PrunedImage

// Pruned is what Prune removed.
type Pruned struct {
	Name   string `json:"name"`
	DryRun bool   `json:"dryRun"`
	protocol.PruneDone
}

// Prune removes images that have been superseded for that long from the registry and the nodes of the cluster called
// name. A dry run removes nothing.
func (c *Control) Prune(ctx context.Context, name string, age time.Duration, dryRun bool) (*Pruned, error) {
	s, err := c.running(ctx, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pruneTime)
	defer cancel()
	p := &Pruned{Name: s.Name, DryRun: dryRun}
	what := "the superseded images of cluster " + s.Name + " cannot be removed"
	return p, c.call(ctx, s, what, "prune", protocol.Prune{AgeMs: age.Milliseconds(), DryRun: dryRun}, &p.PruneDone)
}

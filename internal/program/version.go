package program

import (
	"context"

	"github.com/slipway-dev/slipway/internal/clusterctl/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Version asks the program at path which versions it is and embeds.
func Version(ctx context.Context, path string) (protocol.Version, error) {
	v, err := probe(ctx, path)
	if err != nil && ctx.Err() == nil {
		err = &report.Error{What: "the cluster program does not tell its version", Where: path, Err: err}
	}
	return v, err
}

package program

import (
	"context"
	"strings"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Version asks the program at path which versions it is and embeds.
func Version(ctx context.Context, path string) (protocol.Version, error) {
	v, err := probe(ctx, path)
	if err != nil && ctx.Err() == nil {
		err = &report.Error{What: "the cluster program does not report its version", Where: path, Err: err}
	}
	return v, err
}

// LastWords are what a program said before it failed. One that said nothing, such as a file that was cut off, may not
// be a program any more; variable is the one that names it.
func LastWords(said, variable string) string {
	if said = strings.TrimSpace(said); said != "" {
		return said
	}
	return "it ended without output and may be damaged: unset " + variable + " or delete the file, and slipway builds its own"
}

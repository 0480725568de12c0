package kind

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/project"
)

// Nearest is the resource whose kind is nearly this one, or nil. One of another group or version is not meant by a
// mistake in the kind.
func Nearest(there []project.Resource, group, version, kind string) *project.Resource {
	const mayDiffer = 2
	best, distance := (*project.Resource)(nil), mayDiffer+1
	for _, r := range there {
		d := spelling.Distance(strings.ToLower(kind), strings.ToLower(r.Kind), mayDiffer)
		if d < distance && r.Kind != kind && r.Group == group && r.Version == version {
			best, distance = &r, d
		}
	}
	return best
}

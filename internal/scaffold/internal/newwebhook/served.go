package newwebhook

import (
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Served is the place, "file:line", of the first marker of a kind's webhooks in the code as the plan leaves it, or of a
// conversion that slipway did not make; "" without one.
func Served(p *plan.Plan, file *project.Project, r project.Resource) (place string, err error) {
	if place, err = Marked(p, p.After(), file, r); place != "" || err != nil || !r.Webhooks.Conversion {
		return place, err
	}
	for _, o := range file.Resources {
		if o.API == nil || o.Group != r.Group || o.Kind != r.Kind {
			continue
		}
		if place, err = convertedAt(p, file, o, made(p)); place != "" || err != nil {
			return place, err
		}
	}
	return "", nil
}

// made reports of a file whether slipway made it.
func made(p *plan.Plan) func(name string) bool {
	return func(name string) bool {
		_, is := p.Base().File(name)
		return is
	}
}

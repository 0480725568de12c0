package newwebhook

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Served is the place, "file:line", of the first marker of a kind's webhooks in the code as the plan leaves it, or of a
// conversion that slipway did not make; "" without one.
func Served(p *plan.Plan, file *project.Project, r project.Resource) (place string, err error) {
	if place, err = servedAt(p, file, r); place != "" || err != nil || !r.Webhooks.Conversion {
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

// servedAt finds the first marker of the webhooks that have one.
func servedAt(p *plan.Plan, file *project.Project, r project.Resource) (place string, err error) {
	w := &planner{Plan: p, project: file, resource: r, options: Options{
		Defaulting: r.Webhooks.Defaulting, Validation: r.Webhooks.Validation,
		DefaultingPath: r.Webhooks.DefaultingPath, ValidationPath: r.Webhooks.ValidationPath,
	}}
	wanted := w.wanted()
	files, err := p.Code().GoFiles()
	for _, name := range files {
		if c, err := p.Find(name); place == "" && err == nil {
			place = markerOf(name, c.After(), wanted)
		}
	}
	return place, err
}

// markerOf is the place of the first marker of these webhooks in a file, or "".
func markerOf(name string, src []byte, wanted []wantedWebhook) (place string) {
	addMarkers(src, func(path string, line int) {
		if place == "" && slices.ContainsFunc(wanted, func(h wantedWebhook) bool { return h.path == path }) {
			place = report.Position{File: name, Line: line}.String()
		}
	})
	return place
}

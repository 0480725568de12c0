package dev

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// warnUnserved warns of the project's kinds that the manager has controllers for and that the cluster does not serve.
// The manager itself waits for them, and says so in the traces of its failure.
func (o Options) warnUnserved(ctx context.Context, cluster *ship.Cluster) {
	kinds, err := o.Code().ControlledKinds()
	if err != nil {
		return // reported by what generates
	}
	for _, k := range kinds {
		version := schema.GroupVersion{Group: k.Package.Group, Version: k.Package.Version}
		if cluster.Lacks(ctx, version.WithKind(k.Name)) {
			o.Handler.Handle(report.Warning{Text: "the cluster does not serve the kind " + k.Name + " of " + version.String() +
				", for which the manager has a controller; to install it: slipway install"})
		}
	}
}

package upgrades

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// deployedName is what reports call the old revision if it comes from a cluster.
const deployedName = "what is deployed"

// deployed makes ready what deploy has put into a cluster.
func (w *workshop) deployed(ctx context.Context) (*revision, error) {
	w.Handler.Handle(report.Step{Name: "reading " + deployedName})
	s := operation.Apart(w.user)
	s.Handler = w.Handler
	shipment, cluster, err := delivery.Deployed(ctx, s, w.upgrade.Folder, w.upgrade.Deployed)
	if err != nil {
		return nil, err
	}
	if err := w.fetch(ctx, clusters.Embedded(ctx, s, cluster), shipment); err != nil {
		return nil, err
	}
	return &revision{name: deployedName, shipment: shipment}, nil
}

// fetching is a session with a store of images of its own. An image of the user's may have the same name as one in a
// cluster, and be built since that was loaded.
func (w *workshop) fetching() *operation.Session {
	s := operation.Apart(w.Session)
	s.Getenv = func(name string) string {
		if name == userdirs.CacheVariable {
			return filepath.Join(w.scratch, "images")
		}
		return w.Getenv(name)
	}
	return s
}

// fetch gets the images of a deployment: from the registry of its cluster, if that is an embedded one, and else those
// that this machine does not have from the registries in their names.
func (w *workshop) fetch(ctx context.Context, from *clusterctl.Status, of delivery.Shipment) error {
	here := images.Names(w.Session)
	for _, c := range ship.ContainerImages(of.Objects) {
		ref, err := reference.Parse(c.Image)
		if err != nil || slices.Contains(w.fetched, c.Image) {
			continue // the node reports the name
		}
		mirrors, err := mirrorsOf(ctx, from, c.Image)
		if err != nil {
			return err
		}
		if mirrors == nil && slices.Contains(here, ref.Name()) {
			continue // load finds it
		}
		if _, err := images.PullImages(ctx, w.fetching(), images.Pull{Mirrors: mirrors}, c.Image); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return &report.Error{What: "cannot get image " + c.Image, Where: c.Of(), Err: err, Hint: "neither the registry of an embedded cluster nor this machine has it: build or pull it under this name",
				Next: "slipway image pull " + c.Image}
		}
		w.fetched = append(w.fetched, c.Image)
	}
	return nil
}

// mirrorsOf is the registry of a cluster if it has an image. The cluster may be nil.
func mirrorsOf(ctx context.Context, from *clusterctl.Status, image string) ([]string, error) {
	if from == nil {
		return nil, nil
	}
	mirror, err := loaded.Mirror(ctx, from.Registry, image)
	if err != nil {
		return nil, &report.Error{What: "cannot look for image " + image, Where: "cluster " + from.Name, Err: err, Next: "slipway cluster status " + from.Name}
	}
	if mirror == "" {
		return nil, nil
	}
	return []string{mirror}, nil
}

// loadFetched loads what fetch has got into the cluster of the rehearsal.
func (w *workshop) loadFetched(ctx context.Context) error {
	for _, name := range w.fetched {
		if _, err := images.Load(ctx, w.fetching(), name, clusterName); err != nil {
			return err
		}
	}
	return nil
}

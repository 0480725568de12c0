package cli

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// outdated are the workloads of an embedded cluster whose pods run an older image than the one that the cluster's registry has under its name now. Of other
// clusters it is not known what their nodes would pull.
func (inv *invocation) outdated(ctx context.Context, cluster *ship.Cluster, objects []*unstructured.Unstructured) ([]ship.Outdated, error) {
	embedded := inv.running(ctx, serves(cluster.Server()))
	if embedded == nil || embedded.Nodes.Real == 0 {
		return nil, nil
	}
	return cluster.Outdated(ctx, objects, func(ctx context.Context, image string) ([]string, error) {
		digests, err := loaded.Digests(ctx, embedded.Registry, image)
		if err != nil {
			return nil, &report.Error{What: "cannot find out whether image " + image + " is current", Where: "cluster " + embedded.Name, Err: err, Next: "slipway cluster status " + embedded.Name}
		}
		return digests, nil
	})
}

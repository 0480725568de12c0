package engine

import (
	"context"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/scheduler"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// startWorkers starts everything that is a client of the API server, and returns when pods can be made and will run.
func (c *Cluster) startWorkers(ctx, life context.Context) error {
	host, listen := c.outlet()
	_, err := workers.Start(ctx, life, workers.Options{
		Client: c.loopback(), Controllers: c.spec.Loops, Nodes: c.spec.Nodes, RunNodes: c.runNodes, Images: c.images(),
		RootCA: c.keys.CA, ServiceAccountKey: c.keys.ServiceAccountKey, SigningCA: c.keys.CA, SigningKey: c.keys.CAKey,
		Logger: c.logger, Changed: c.components.set, See: c.see, Go: c.workers.Go,
		Failed: func(e *protocol.ComponentError) { c.fail(e) }, Volumes: c.volumes(),
		Host: host, Listen: listen,
	})
	return err
}

// volumes are the data that real nodes keep; nil where there never are any.
func (c *Cluster) volumes() controllers.VolumeData {
	if c.spec.Real == nil {
		return nil
	}
	return machine.Volumes{State: c.nodesDir(), Program: c.spec.Real.container()}
}

// images are what pods are placed by; nil where nodes are of one kind for good.
func (c *Cluster) images() scheduler.Images {
	if c.spec.Real == nil || len(c.spec.Nodes) == 0 {
		return nil
	}
	return c.registry
}

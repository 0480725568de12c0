package clusterctl

import (
	"context"
)

// Delete stops the cluster called name if it runs and removes everything that is kept of it: the
// context, the logs and, other than [Control.Stop], the data of a durable one. Already is
// set in the status if there was nothing.
func (c *Control) Delete(ctx context.Context, name string) (*Status, error) {
	cl, err := c.cluster(name)
	if err != nil {
		return nil, err
	}
	release, err := cl.Hold(ctx, c.waiting(cl))
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := c.end(ctx, cl, true); err != nil { // Remove takes it all
		return nil, err
	}
	there, err := cl.Remove()
	if err != nil {
		return nil, err
	}
	return &Status{Name: cl.Name, State: Stopped, Already: !there}, nil
}

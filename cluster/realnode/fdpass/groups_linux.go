package fdpass

import (
	"context"
	"errors"
	"os"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// HostGroups manages cgroups on the other side of the connection, where [Serve] answers.
type HostGroups struct{ Client *Client }

// Make makes a limited cgroup for a container before it starts. Processes join the cgroup by the returned files.
func (g HostGroups) Make(ctx context.Context, container string, l wire.Limits) ([]*os.File, error) {
	a, err := g.ask(ctx, wire.Group{Container: container, Make: &l})
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, fd := range a.files {
		files = append(files, os.NewFile(uintptr(fd), "cgroup"))
	}
	return files, nil
}

// Update changes a container's limits.
func (g HostGroups) Update(ctx context.Context, container string, l wire.Limits) error {
	_, err := g.ask(ctx, wire.Group{Container: container, Update: &l})
	return err
}

// Measure returns what a container has used so far.
func (g HostGroups) Measure(ctx context.Context, container string) (wire.Usage, error) {
	return g.usage(ctx, wire.Group{Container: container})
}

// Remove removes the cgroup of an ended container, and returns what the container has used.
func (g HostGroups) Remove(ctx context.Context, container string) (wire.Usage, error) {
	return g.usage(ctx, wire.Group{Container: container, Remove: true})
}

func (g HostGroups) usage(ctx context.Context, q wire.Group) (wire.Usage, error) {
	a, err := g.ask(ctx, q)
	if a.Usage == nil {
		return wire.Usage{}, errors.Join(err, errors.New("no measurement was made"))
	}
	return *a.Usage, err
}

func (g HostGroups) ask(ctx context.Context, q wire.Group) (answer, error) {
	a, err := g.Client.ask(ctx, wire.Request{Group: &q}, nil)
	if err != nil {
		a.drop()
	}
	return a, err
}

package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/frontdoor"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// Door is an open front door of a cluster. It closes with the cluster at the latest.
type Door struct {
	*frontdoor.Door
	name  string
	among *doors
}

// doors are those of a cluster that are open.
type doors struct {
	mu    sync.Mutex
	ended bool // no more doors
	open  map[*Door]struct{}
}

// OpenDoor opens a front door of the logical cluster of that name, or of the main one if it is empty, for a process
// that acts as who. Clients of its kubeconfig work in namespace. Errors are those of [Host.Cluster] and of
// [frontdoor.Open], and [ErrStopped].
func (h *Host) OpenDoor(logical string, who user.DefaultInfo, namespace string) (*Door, error) {
	c, err := h.Cluster(logical)
	if err != nil {
		return nil, err
	}
	return c.openDoor(fmt.Sprintf("door-%d", h.opened.Add(1)), who, namespace)
}

func (c *Cluster) openDoor(name string, who user.DefaultInfo, namespace string) (*Door, error) {
	c.doors.mu.Lock()
	defer c.doors.mu.Unlock()
	if c.doors.ended {
		return nil, ErrStopped
	}
	door, err := frontdoor.Open(frontdoor.Options{
		Name: c.Name() + "-" + name, Dir: filepath.Join(c.doorsDir(), name), Identity: who, Namespace: namespace, Keys: c.keys,
		Serve: c.server.HandlerAs, LongRunning: apiserver.LongRunning(), Log: c.logger(protocol.APIServer),
	})
	if err != nil {
		return nil, err
	}
	d := &Door{door, name, &c.doors}
	if c.doors.open == nil {
		c.doors.open = map[*Door]struct{}{}
	}
	c.doors.open[d] = struct{}{}
	return d, nil
}

// Name is the door's name. No other door of the program has had it.
func (d *Door) Name() string { return d.name }

// Close closes the door, as [frontdoor.Door.Close] does.
func (d *Door) Close() error {
	d.among.mu.Lock()
	delete(d.among.open, d)
	d.among.mu.Unlock()
	return d.Door.Close()
}

// close closes all doors, after which none opens.
func (d *doors) close() error {
	d.mu.Lock()
	d.ended = true
	open := d.open
	d.open = nil
	d.mu.Unlock()
	var errs []error
	for door := range open {
		errs = append(errs, door.Door.Close())
	}
	return errors.Join(errs...)
}

func (c *Cluster) doorsDir() string { return filepath.Join(c.dir, "doors") }

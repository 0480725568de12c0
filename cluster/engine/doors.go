package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/frontdoor"
	"github.com/slipway-dev/slipway/cluster/journal"
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

// DoorOptions say whom a door is for.
type DoorOptions struct {
	Identity  user.DefaultInfo
	Namespace string // in which clients of its kubeconfig work
	Inspect   bool   // it looks into requests, see [frontdoor.Inspection]
	Park      bool   // an inspected one: until it is activated
	// Past is the revision of the store that an inspected one shows until then, of some resources or of all; 0: the
	// newest.
	Past   int64
	PastOf []string
}

// OpenDoor opens a front door of the logical cluster of that name, or of the main one if it is empty, for one process.
// Errors are those of [Host.Cluster] and of [frontdoor.Open], and [ErrStopped].
func (h *Host) OpenDoor(logical string, o DoorOptions) (*Door, error) {
	c, err := h.Cluster(logical)
	if err != nil {
		return nil, err
	}
	return c.openDoor(fmt.Sprintf("door-%d", h.opened.Add(1)), o)
}

func (c *Cluster) openDoor(name string, o DoorOptions) (*Door, error) {
	options := frontdoor.Options{
		Name: c.Name() + "-" + name, Dir: filepath.Join(c.doorsDir(), name), Identity: o.Identity, Namespace: o.Namespace, Keys: c.keys,
		Observe: c.observe(name), Serve: c.server.HandlerAs, LongRunning: apiserver.LongRunning(), Log: c.logger(protocol.APIServer),
	}
	if o.Inspect {
		options.Inspection = &frontdoor.Inspection{Revision: c.store.Revision, Past: o.Past, PastOf: o.PastOf}
	}
	if o.Park {
		options.Known = c.inBaseline()
	}
	c.doors.mu.Lock()
	defer c.doors.mu.Unlock()
	if c.doors.ended {
		return nil, ErrStopped
	}
	door, err := frontdoor.Open(options)
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

// inBaseline returns what reports whether resets lead back to an object.
func (c *Cluster) inBaseline() func(types.UID) bool {
	c.resetting.Lock()
	defer c.resetting.Unlock()
	ids := c.base.UIDs()
	return func(id types.UID) bool { return ids[id] }
}

// Follow reports the changes of the objects of a logical cluster, or of the main one, to each until that returns false,
// life ends or the function that it returns is called, which waits for the last call. What is written once Follow has
// returned is reported. Failed is called if it ends by itself.
func (h *Host) Follow(life context.Context, logical string, each func(journal.Change) bool, failed func(error)) (end func(), err error) {
	c, err := h.Cluster(logical)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(life)
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		err := journal.Follow(ctx, c.store, c.prefix, func() { close(begun) }, func(change journal.Change) {
			if !each(change) {
				cancel()
			}
		})
		if ctx.Err() == nil {
			failed(err)
		}
		ended <- err
		close(ended)
	}()
	end = func() { cancel(); <-ended }
	select {
	case <-begun:
		return end, nil
	case err := <-ended:
		cancel()
		return nil, err
	}
}

// MuteEvents has the Events of controllers, scheduler and nodes come to nothing, or not any more. Only those who read
// Events notice.
func (c *Cluster) MuteEvents(mute bool) { c.gate.mute(mute) }

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

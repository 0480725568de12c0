package serve

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/frontdoor"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// maxDoors bounds the open doors of one connection.
const maxDoors = 64

var (
	errDoors  = fmt.Errorf("this connection has %d open doors, and no connection may have more", maxDoors)
	errNoDoor = errors.New("this connection has no open door of that name")
)

// clientDoors are the doors that a client has opened, by their names.
type clientDoors map[string]*clientDoor

type clientDoor struct {
	*engine.Door
	reported chan struct{} // closed once its last report is sent, or cannot be
}

func (s *session) openDoor(c *client, o protocol.OpenDoor, send protocol.Send) (opened protocol.DoorOpened, err error) {
	c.doors.forgetClosed()
	if len(c.doors) >= maxDoors {
		return opened, errDoors
	}
	err = s.withHost(func(h *engine.Host) error {
		door, err := h.OpenDoor(o.Logical, user.DefaultInfo{Name: o.User, Groups: o.Groups}, o.Namespace)
		if err != nil {
			return err
		}
		opened = protocol.DoorOpened{Name: door.Name(), Server: door.Server(), Kubeconfig: door.Kubeconfig()}
		if c.doors == nil {
			c.doors = clientDoors{}
		}
		c.doors[door.Name()] = follow(door, send)
		return nil
	})
	return opened, err
}

// follow sends the client of a door what is reported of its requests, for as long as the client takes that.
func follow(door *engine.Door, send protocol.Send) *clientDoor {
	d := &clientDoor{door, make(chan struct{})}
	go func() {
		defer close(d.reported)
		for r := range door.Requests() {
			if send(reportOf(door.Name(), r)) != nil {
				return // the client is gone, and its doors are about to close
			}
		}
	}()
	return d
}

// reportOf is a report as the protocol has it.
func reportOf(door string, r frontdoor.Request) protocol.DoorRequest {
	return protocol.DoorRequest{
		Door: door, User: r.User, Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name, Path: r.Path, Status: r.Status,
		LatencyMs: float64(r.Latency) / float64(time.Millisecond), ResourceVersion: r.ResourceVersion, Missed: r.Missed,
	}
}

// forgetClosed forgets doors that have closed with their cluster.
func (d clientDoors) forgetClosed() {
	for name, door := range d {
		select {
		case <-door.reported:
			delete(d, name)
		default:
		}
	}
}

// close closes a door, and returns once the client has got all reports.
func (d clientDoors) close(name string) error {
	door, ok := d[name]
	if !ok {
		return fmt.Errorf("%w: %q", errNoDoor, name)
	}
	delete(d, name)
	err := door.Close()
	<-door.reported
	return err
}

func (d clientDoors) closeAll() {
	for name := range d {
		_ = d.close(name)
	}
}

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
		options := engine.DoorOptions{Identity: user.DefaultInfo{Name: o.User, Groups: o.Groups}, Namespace: o.Namespace}
		if o.Inspect != nil {
			options.Inspect, options.Park, options.Past, options.PastOf = true, o.Inspect.Park, o.Inspect.Past, o.Inspect.PastOf
		}
		door, err := h.OpenDoor(o.Logical, options)
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
		for r := range door.Reports() {
			if send(reportOf(door.Name(), r)) != nil {
				return // the client is gone, and its doors are about to close
			}
		}
	}()
	return d
}

// reportOf is a report as the protocol has it.
func reportOf(door string, r frontdoor.Report) protocol.Event {
	switch r := r.(type) {
	case frontdoor.Begun:
		return protocol.Begun{Door: door, Serial: r.Serial}
	case frontdoor.Struck:
		return protocol.Struck{Door: door, Fault: r.Fault, Serial: r.Serial, Status: r.Status}
	case frontdoor.Delivered:
		return protocol.Delivered{Door: door, Serial: r.Serial, Group: r.Group, Resource: r.Resource, Type: r.Type,
			Namespace: r.Namespace, Name: r.Name, ResourceVersion: r.ResourceVersion}
	default:
		return requestOf(door, r.(frontdoor.Request))
	}
}

func requestOf(door string, r frontdoor.Request) protocol.DoorRequest {
	said := protocol.DoorRequest{
		Door: door, User: r.User, Verb: r.Verb, Group: r.Group, Version: r.Version, Resource: r.Resource, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name, Path: r.Path, Status: r.Status,
		LatencyMs: float64(r.Latency) / float64(time.Millisecond), ResourceVersion: r.ResourceVersion, Missed: r.Missed,
	}
	if r.Serial != 0 {
		said.Inspected = &protocol.Inspected{Serial: r.Serial, Began: r.Began, Ended: r.Ended, DryRun: r.DryRun, Fresh: r.Fresh, Selects: r.Selects}
	}
	return said
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

// use calls f with a door.
func (d clientDoors) use(name string, f func(*engine.Door) error) (protocol.Empty, error) {
	door, ok := d[name]
	if !ok {
		return protocol.Empty{}, fmt.Errorf("%w: %q", errNoDoor, name)
	}
	return protocol.Empty{}, f(door.Door)
}

// inspecting are the requests about inspected doors.
func (d *client) inspecting() protocol.Methods {
	return protocol.Methods{
		"armDoor": protocol.Answer(func(a protocol.ArmDoor) (protocol.Empty, error) {
			return d.doors.use(a.Name, func(door *engine.Door) error { return door.Arm(faultsOf(a.Faults)...) })
		}),
		"disarmDoor": protocol.Answer(func(a protocol.DisarmDoor) (done protocol.Disarmed, err error) {
			_, err = d.doors.use(a.Name, func(door *engine.Door) (err error) { done.Left, err = door.Disarm(); return err })
			return done, err
		}),
		"activateDoor": protocol.Answer(func(a protocol.ActivateDoor) (protocol.Empty, error) {
			return d.doors.use(a.Name, func(door *engine.Door) error { return door.Activate() })
		}),
		"resumeDoor": protocol.Answer(func(a protocol.ResumeDoor) (protocol.Empty, error) {
			return d.doors.use(a.Name, func(door *engine.Door) error { return door.Resume(a.Serial) })
		}),
		"holdWatches": protocol.Answer(func(w protocol.WatchesOf) (protocol.Empty, error) {
			return d.doors.use(w.Name, func(door *engine.Door) error { return door.Hold(w.Group, w.Resource) })
		}),
		"releaseWatches": protocol.Answer(func(w protocol.WatchesOf) (protocol.Empty, error) {
			return d.doors.use(w.Name, func(door *engine.Door) error { return door.Release(w.Group, w.Resource, w.Merge) })
		}),
		"cutWatches": protocol.Answer(func(w protocol.WatchesOf) (protocol.Empty, error) {
			return d.doors.use(w.Name, func(door *engine.Door) error { return door.Cut(w.Group, w.Resource) })
		}),
	}
}

func faultsOf(said []protocol.Fault) (faults []frontdoor.Fault) {
	for _, f := range said {
		fault := frontdoor.Fault{
			Name: f.Name, Match: frontdoor.Match(f.Match), Skip: f.Skip, Lasts: f.Lasts,
			Withhold: f.Withhold, Break: f.Break, Shut: f.Shut, Pause: f.Pause, Stall: f.Stall, Hold: f.Hold,
		}
		if f.Answer != nil {
			answer := frontdoor.Answer(*f.Answer)
			fault.Answer = &answer
		}
		faults = append(faults, fault)
	}
	return faults
}

func (d clientDoors) closeAll() {
	for name := range d {
		_ = d.close(name)
	}
}

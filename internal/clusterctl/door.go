package clusterctl

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Identity is who a process is to the API server.
type Identity struct {
	User      string
	Groups    []string // all of them: system:authenticated, too
	Namespace string   // in which its clients work; empty means default
}

// ServiceAccount returns the identity of pods with a ServiceAccount.
func ServiceAccount(namespace, name string) Identity {
	return Identity{
		User:      "system:serviceaccount:" + namespace + ":" + name,
		Groups:    []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		Namespace: namespace,
	}
}

// DoorRequest reports a request that came through a [Door].
type DoorRequest struct {
	User                                                         string
	Verb, Group, Version, Resource, Subresource, Namespace, Name string // as the API server authorizes it
	Path                                                         string // of what is no resource
	Status                                                       int    // 0 if the connection ended without an answer
	// Latency is the time until the answer was complete; for watches, logs and upgraded connections until it began.
	Latency         time.Duration
	ResourceVersion string // of the object or list in the answer; empty if it is not known
	Missed          int    // requests before this one that are not reported
}

// Door is an entrance of one process to the API server of a running cluster.
type Door struct {
	Server     string // its URL
	Kubeconfig string // the path of the file with which the process comes in

	name    string
	conn    *protocol.Conn
	answer  time.Duration
	ended   chan struct{}
	closing func() error
}

// OpenDoor opens a door to the cluster called name for a process that acts as id. Each request that comes through it is
// reported to seen, one after the other. While seen does not return, reports wait in a bounded number; those beyond it
// are counted. The door closes with [Door.Close], with this process and with the cluster; ctx bounds its opening.
func (c *Control) OpenDoor(ctx context.Context, name string, id Identity, seen func(DoorRequest)) (*Door, error) {
	s, err := c.running(ctx, name)
	if err != nil {
		return nil, err
	}
	cl, err := c.cluster(s.Name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	d, err := openDoor(ctx, cl.SocketPath(), id)
	if err != nil {
		return nil, doorless(unanswered(ctx, s, "no front door of cluster "+s.Name+" can be opened", err), s.Name)
	}
	d.answer = c.answer
	go d.follow(seen)
	return d, nil
}

func openDoor(ctx context.Context, socket string, id Identity) (*Door, error) {
	conn, err := protocol.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	defer conn.Until(ctx)()
	var opened protocol.DoorOpened
	params := protocol.OpenDoor{User: id.User, Groups: id.Groups, Namespace: id.Namespace}
	if err := conn.Call("openDoor", params, &opened, func(protocol.Event) {}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	d := &Door{Server: opened.Server, Kubeconfig: opened.Kubeconfig, name: opened.Name, conn: conn, ended: make(chan struct{})}
	d.closing = sync.OnceValue(d.close)
	return d, nil
}

// doorless explains that a program knows no doors.
func doorless(err error, name string) error {
	e, ok := errors.AsType[*report.Error](err)
	if r, refused := errors.AsType[*protocol.Refusal](err); ok && refused && r.UnknownMethod() {
		e.Hint = "the cluster was started by an older slipway"
		e.Next = command("stop", name) + " && " + command("start", name)
	}
	return err
}

// follow reports requests until the door is closed, or the program or the connection ends.
func (d *Door) follow(seen func(DoorRequest)) {
	defer close(d.ended)
	for {
		e, err := d.conn.Read()
		switch {
		case err != nil, e.Name == protocol.EventReply: // to closeDoor, after the last report
			return
		case e.Name == protocol.EventRequest:
			seen(doorRequest(e))
		}
	}
}

func doorRequest(e protocol.Event) DoorRequest {
	return DoorRequest{
		User: e.User, Verb: e.Verb, Group: e.Group, Version: e.Version, Resource: e.Resource, Subresource: e.Subresource,
		Namespace: e.Namespace, Name: e.ObjectName, Path: e.Path, Status: e.Status,
		Latency: time.Duration(e.LatencyMs * float64(time.Millisecond)), ResourceVersion: e.ResourceVersion, Missed: e.Missed,
	}
}

// Ended is closed once the door is closed and the last report is out: by Close, or because the cluster has ended.
func (d *Door) Ended() <-chan struct{} { return d.ended }

// Close closes the door with all its connections, and returns after the last report. If the program does not answer in
// time, the error says so; the door ends with the connection then.
func (d *Door) Close() error { return d.closing() }

// errDoorSilent is why it is not known whether a door is closed.
var errDoorSilent = errors.New("the cluster did not close its front door in time")

func (d *Door) close() (err error) {
	timer := time.NewTimer(d.answer)
	defer timer.Stop()
	if _, gone := d.conn.Send("closeDoor", protocol.CloseDoor{Name: d.name}); gone == nil {
		select {
		case <-d.ended:
		case <-timer.C:
			err = errDoorSilent
		}
	}
	_ = d.conn.Close() // also when the cluster, and with it the door, is gone
	<-d.ended
	return err
}

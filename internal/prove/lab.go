package prove

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// A lab is a connection to the cluster's program that looks into one of its clusters.
type lab struct {
	conn    *protocol.Conn
	logical string // the cluster; empty: the main one
	seen    func(protocol.Report)
	ended   chan struct{}

	mu      sync.Mutex
	err     error // once ended is closed
	pending map[int64]chan protocol.Event
}

// dialLab connects to the socket of a program. Each report is handed to seen, in order, by one goroutine.
func dialLab(ctx context.Context, socket, logical string, seen func(protocol.Report)) (*lab, error) {
	conn, err := protocol.Dial(ctx, socket)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster's program: %w", err)
	}
	l := &lab{conn: conn, logical: logical, seen: seen, ended: make(chan struct{}), pending: map[int64]chan protocol.Event{}}
	go l.read()
	return l, nil
}

func (l *lab) read() {
	defer close(l.ended)
	for {
		e, r, err := l.conn.ReadReport()
		if err != nil {
			l.fail(err)
			return
		}
		switch {
		case e.Name == protocol.EventReply && e.ID != nil:
			l.mu.Lock()
			c := l.pending[*e.ID]
			delete(l.pending, *e.ID)
			l.mu.Unlock()
			if c != nil {
				c <- e
			}
		case e.Name == protocol.EventNote && e.Component == "etcd": // its changes are not followed any more
			l.fail(errors.New(e.Text))
			_ = l.conn.Close()
		case r.Name != "":
			l.seen(r)
		}
	}
}

// fail notes the first error, which is the cause of the others.
func (l *lab) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = cmp.Or(l.err, err)
}

// call makes a request and decodes its result, unless that is nil.
func (l *lab) call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, fmt.Errorf("%s: the cluster did not answer within %s", method, answerLimit))
	defer cancel()
	c := make(chan protocol.Event, 1)
	l.mu.Lock()
	id, err := l.conn.Send(method, params)
	if err == nil {
		l.pending[id] = c
	}
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case e := <-c:
		if e.Error != "" {
			return fmt.Errorf("%s: %w", method, &protocol.Refusal{Method: method, Reason: e.Error})
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(e.Result, result)
	case <-l.ended:
		l.mu.Lock()
		defer l.mu.Unlock()
		return fmt.Errorf("%s: the cluster has ended: %w", method, l.err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answerLimit bounds a request. A reset waits ten seconds at most for a cluster that changes all the time.
const answerLimit = 30 * time.Second

// close ends the connection, and with it the doors.
func (l *lab) close() error {
	err := l.conn.Close()
	<-l.ended
	return err
}

func (l *lab) reset(ctx context.Context) (revision int64, err error) {
	var done protocol.ResetDone
	err = l.call(ctx, "reset", protocol.Reset{Logical: l.logical}, &done)
	return done.Revision, err
}

func (l *lab) keep(ctx context.Context) error {
	return l.call(ctx, "keep", protocol.Keep{Logical: l.logical}, nil)
}

func (l *lab) follow(ctx context.Context) error {
	return l.call(ctx, "followChanges", protocol.FollowChanges{Logical: l.logical}, nil)
}

// memory is how much the clusters' program uses, in bytes; 0 if that is not known.
func (l *lab) memory(ctx context.Context) (int64, error) {
	var status protocol.Status
	err := l.call(ctx, "status", nil, &status)
	return status.RSSBytes, err
}

func (l *lab) muteEvents(ctx context.Context) error {
	return l.call(ctx, "muteEvents", protocol.MuteEvents{Logical: l.logical, Mute: true}, nil)
}

func (l *lab) openDoor(ctx context.Context, who Identity, inspect protocol.Inspect) (door protocol.DoorOpened, err error) {
	err = l.call(ctx, "openDoor", protocol.OpenDoor{Logical: l.logical, User: who.User, Groups: who.Groups, Namespace: who.Namespace, Inspect: &inspect}, &door)
	return door, err
}

func (l *lab) closeDoor(ctx context.Context, door string) error {
	return l.call(ctx, "closeDoor", protocol.CloseDoor{Name: door}, nil)
}

func (l *lab) arm(ctx context.Context, door string, faults ...protocol.Fault) error {
	return l.call(ctx, "armDoor", protocol.ArmDoor{Name: door, Faults: faults}, nil)
}

func (l *lab) disarm(ctx context.Context, door string) error {
	return l.call(ctx, "disarmDoor", protocol.DisarmDoor{Name: door}, nil)
}

func (l *lab) activate(ctx context.Context, door string) error {
	return l.call(ctx, "activateDoor", protocol.ActivateDoor{Name: door}, nil)
}

func (l *lab) hold(ctx context.Context, door string, of resource) error {
	return l.call(ctx, "holdWatches", protocol.WatchesOf{Name: door, Group: of.group, Resource: of.name}, nil)
}

func (l *lab) release(ctx context.Context, door string, of resource, merge bool) error {
	return l.call(ctx, "releaseWatches", protocol.WatchesOf{Name: door, Group: of.group, Resource: of.name, Merge: merge}, nil)
}

func (l *lab) cut(ctx context.Context, door string, of resource) error {
	return l.call(ctx, "cutWatches", protocol.WatchesOf{Name: door, Group: of.group, Resource: of.name}, nil)
}

func (l *lab) resume(ctx context.Context, door string, serial int64) error {
	return l.call(ctx, "resumeDoor", protocol.ResumeDoor{Name: door, Serial: serial}, nil)
}

// Identity is who the operator is to the API server.
type Identity struct {
	User      string
	Groups    []string // all of them: system:authenticated, too
	Namespace string   // in which its clients work; empty means default
}

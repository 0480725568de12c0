package serve

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"
	"weak"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/journal"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/workers"
)

var errNotReady = errors.New("the cluster is not ready yet")

// client is one connection. Its requests are answered one after the other, so it needs no lock.
type client struct {
	doors clientDoors
	// follows ends what reports changes to it.
	follows []func()
	// tied are the logical clusters that end with it. One that was removed before is not to stay in memory for that.
	tied []weak.Pointer[engine.Cluster]
}

// connect returns the methods for a client of the socket, and what to do once it has gone.
func (s *session) connect(life context.Context) (func(protocol.Send) protocol.Methods, func()) {
	c := &client{}
	return func(send protocol.Send) protocol.Methods { return s.methods(life, c, send) }, func() { s.disconnect(c) }
}

// disconnect ends what is to end with a client. No client is left to learn of a failure.
func (s *session) disconnect(c *client) {
	c.doors.closeAll()
	for _, end := range c.follows {
		end()
	}
	for _, tied := range c.tied {
		if cluster := tied.Value(); cluster != nil {
			_ = s.remove(func(h *engine.Host) error { return h.RemoveThis(cluster) }) // it may have been removed by request
		}
	}
}

// methods are the requests of a client that a cluster answers in its life.
func (s *session) methods(life context.Context, c *client, send protocol.Send) protocol.Methods {
	all := protocol.Methods{
		"status": protocol.Answer(func(protocol.Empty) (protocol.Status, error) { return s.currentStatus(life), nil }),
		"stop": func(json.RawMessage) (any, func(), error) {
			return protocol.Empty{}, func() { s.stop(stopReason(protocol.ByRequest)) }, nil
		},
		"reset": protocol.Answer(func(r protocol.Reset) (protocol.ResetDone, error) {
			return s.reset(life, r.Logical)
		}),
		"keep": protocol.Answer(func(k protocol.Keep) (protocol.KeepDone, error) {
			return s.keep(life, k.Logical)
		}),
		"prune": protocol.Answer(func(p protocol.Prune) (protocol.PruneDone, error) { return s.prune(life, p) }),
		"addLogical": protocol.Answer(func(l protocol.AddLogical) (protocol.LogicalAdded, error) {
			cluster, added, err := s.addLogical(life, l)
			if err == nil && l.Tied {
				c.tied = append(c.tied, weak.Make(cluster))
			}
			return added, err
		}),
		"removeLogical": protocol.Answer(func(r protocol.RemoveLogical) (protocol.Empty, error) {
			return protocol.Empty{}, s.removeLogical(r.Name)
		}),
		"openDoor": protocol.Answer(func(o protocol.OpenDoor) (protocol.DoorOpened, error) {
			return s.openDoor(c, o, send)
		}),
		"closeDoor": protocol.Answer(func(d protocol.CloseDoor) (protocol.Empty, error) {
			return protocol.Empty{}, c.doors.close(d.Name)
		}),
		"stopNode": protocol.Answer(func(n protocol.NodeOf) (protocol.Empty, error) {
			return protocol.Empty{}, s.withNodes(n.Logical, func(nodes workers.Nodes) error { return nodes.StopNode(n.Name) })
		}),
		"startNode": protocol.Answer(func(n protocol.NodeOf) (protocol.Empty, error) {
			return protocol.Empty{}, s.withNodes(n.Logical, func(nodes workers.Nodes) error { return nodes.StartNode(life, n.Name) })
		}),
		"joinNode": protocol.Answer(func(j protocol.JoinNode) (protocol.NodeJoined, error) { return s.join(life, j.Program) }),
		"muteEvents": protocol.Answer(func(m protocol.MuteEvents) (protocol.Empty, error) {
			return protocol.Empty{}, s.withHost(func(h *engine.Host) error {
				c, err := h.Cluster(m.Logical)
				if err == nil {
					c.MuteEvents(m.Mute)
				}
				return err
			})
		}),
		"followChanges": protocol.Answer(func(f protocol.FollowChanges) (protocol.Empty, error) {
			return protocol.Empty{}, s.follow(life, c, f.Logical, send)
		}),
	}
	maps.Copy(all, c.inspecting())
	maps.Copy(all, s.recording(life, c, send))
	return all
}

// follow begins to report the changes of a cluster's objects to a client.
func (s *session) follow(life context.Context, c *client, logical string, send protocol.Send) error {
	if len(c.follows) >= maxDoors {
		return errDoors
	}
	spent := s.memory.spend(followGC)
	err := s.withHost(func(h *engine.Host) error {
		end, err := h.Follow(life, logical, func(change journal.Change) bool {
			return send(protocol.Changed{Logical: logical, Key: change.Key, Revision: change.Revision, Created: change.Created, Deleted: change.Deleted, Object: change.Object}) == nil
		}, func(err error) {
			_ = send(protocol.Note{Component: protocol.Etcd, Text: "changes are not followed any more: " + err.Error()})
		})
		if err == nil {
			c.follows = append(c.follows, func() { end(); spent() })
		}
		return err
	})
	if err != nil {
		spent()
	}
	return err
}

// withHost calls f once there is a host.
func (s *session) withHost(f func(*engine.Host) error) error {
	if h := s.host.Load(); h != nil {
		return f(h)
	}
	return errNotReady
}

func (s *session) currentStatus(ctx context.Context) protocol.Status {
	now := s.status.snapshot()
	now.Nodes = s.nodes()
	if h := s.host.Load(); h != nil && now.Ready {
		describe(now.Components, h.Doing(ctx))
		now.Record = recordStatus(h)
		now.Addresses, now.MoreAddresses = addresses(h.Main().Addresses())
	}
	if h := s.host.Load(); h != nil {
		for _, c := range h.Logical() {
			now.Logical = append(now.Logical, protocol.LogicalCluster{Name: c.Name(), Server: c.Server(), Kubeconfig: c.Kubeconfig()})
		}
	}
	return now
}

func (s *session) addLogical(ctx context.Context, l protocol.AddLogical) (c *engine.Cluster, added protocol.LogicalAdded, err error) {
	begin := time.Now()
	nodes, err := nodeSpecs(l.Nodes, protocol.SimulatedNodes)
	if err != nil {
		return nil, added, err
	}
	list, err := loops(l.ControllerNames)
	if err != nil {
		return nil, added, err
	}
	how, err := habits(l.SimulatedPods, l.SimulatedJobs)
	if err != nil {
		return nil, added, err
	}
	spec := engine.Spec{Name: l.Name, Nodes: nodes, Controllers: l.RunControllers(), Loops: list, Habits: how, APIServerFlags: l.ServerFlags(s.config.Spec)}
	if !l.Tied { // those are for tests, which look at what happens themselves
		spec.RecordBytes = s.config.RecordBytes
	}
	defer s.memory.start(logicalGC)()
	err = s.withHost(func(h *engine.Host) (err error) {
		if c, err = h.Add(ctx, spec); err != nil {
			return err
		}
		added.LogicalCluster = protocol.LogicalCluster{Name: c.Name(), Server: c.Server(), Kubeconfig: c.Kubeconfig()}
		return nil
	})
	added.ElapsedMs = time.Since(begin).Milliseconds()
	return c, added, err
}

func (s *session) removeLogical(name string) error {
	return s.remove(func(h *engine.Host) error { return h.Remove(name) })
}

// remove has a host remove a logical cluster.
func (s *session) remove(f func(*engine.Host) error) error {
	defer s.memory.left()
	return s.withHost(f)
}

func (s *session) reset(ctx context.Context, logical string) (protocol.ResetDone, error) {
	begin := time.Now()
	defer s.memory.spend(resetGC)()
	var done protocol.ResetDone
	err := s.withHost(func(h *engine.Host) error {
		c, err := h.Cluster(logical)
		if err != nil {
			return err
		}
		outcome, err := c.Reset(ctx)
		done.Removed, done.Restored, done.Kept, done.Revision = outcome.Removed, outcome.Restored, outcome.Kept, outcome.Revision
		return err
	})
	done.TookMs = sinceMs(begin)
	return done, err
}

func (s *session) keep(ctx context.Context, logical string) (protocol.KeepDone, error) {
	begin := time.Now()
	var done protocol.KeepDone
	err := s.withHost(func(h *engine.Host) error {
		c, err := h.Cluster(logical)
		if err != nil {
			return err
		}
		done.Objects, err = c.Keep(ctx)
		return err
	})
	done.TookMs = sinceMs(begin)
	return done, err
}

// sinceMs is how many milliseconds ago that was, with a fraction.
func sinceMs(begin time.Time) float64 { return float64(time.Since(begin).Microseconds()) / 1000 }

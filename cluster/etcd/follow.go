package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// A Change is a write to one key.
type Change struct {
	Pair             // without a value if the key was removed
	Revision         int64
	Created, Removed bool
}

// Revision is that of the last write to the store.
func (s *Server) Revision() int64 { return s.etcd.Server.KV().Rev() }

// ErrBehind says that a follower was too slow.
var ErrBehind = errors.New("the follower is too far behind the changes of etcd")

// Follow calls each for every change below prefix, in order, until ctx ends or the server stops. It begins with the
// revision from or, if that is 0, with what is written once it has called begun. Each may be slow for a while: 16384
// changes, of 16 MiB, wait for it. Then Follow ends with [ErrBehind]. What was written before it began waits in the
// store.
//
// Begun gets a function that asks how far Follow is. Each is called for that with a change without a key, whose
// revision is one of the store: it has had all changes up to that one. Nothing comes as long as etcd itself is behind.
//
// They do not wait in etcd. It reads all that a slow watcher has missed under the lock that writes need, again for each
// thousand of changes (syncWatchers in storage/mvcc/watchable_store.go).
func (s *Server) Follow(ctx context.Context, prefix string, from int64, begun func(ask func()), each func(Change)) error {
	return s.call(ctx, func(ctx context.Context, server *etcdserver.EtcdServer) error {
		stream := server.Watchable().NewWatchStream()
		defer stream.Close()
		past := s.Revision()
		id, err := stream.Watch(ctx, clientv3.AutoWatchID, []byte(prefix), prefixEnd(prefix), from)
		if err != nil {
			return fmt.Errorf("follow the changes of etcd: %w", err)
		}
		begun(func() { stream.RequestProgress(id) })
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		q := &queue{past: past, more: make(chan struct{}, 1), less: make(chan struct{}, 1)}
		filled := make(chan struct{})
		go func() {
			defer close(filled)
			cancel(q.fill(ctx, stream))
		}()
		err = q.empty(ctx, each)
		cancel(nil)
		<-filled
		return err
	})
}

// queue holds the changes that a follower has not taken yet.
type queue struct {
	past int64         // what is not behind this revision waits for room
	more chan struct{} // has an element once there may be more
	less chan struct{} // has an element once there may be room

	mu      sync.Mutex
	waiting []Change
	count   int // of those that are taken and not handled yet, too
	bytes   int
}

const (
	maxBehind      = 1 << 14
	maxBehindBytes = 16 << 20
)

// fill takes changes from etcd as they come.
func (q *queue) fill(ctx context.Context, stream mvcc.WatchStream) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case response := <-stream.Chan():
			if response.CompactRevision != 0 {
				return fmt.Errorf("follow the changes of etcd: those before %d are gone", response.CompactRevision)
			}
			for _, e := range response.Events {
				if err := q.await(ctx, changeOf(e)); err != nil {
					return err
				}
			}
			if len(response.Events) == 0 {
				q.put(Change{Revision: response.Revision}) // without room there is more to come
			}
		}
	}
}

// await puts a change. Those from before Follow began wait for room, since no write waits for them.
func (q *queue) await(ctx context.Context, c Change) error {
	for !q.put(c) {
		if c.Revision > q.past {
			return ErrBehind
		}
		select {
		case <-q.less:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// put is false if there is no room.
func (q *queue) put(c Change) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.count >= maxBehind || q.count > 0 && q.bytes+len(c.Value) > maxBehindBytes {
		return false
	}
	q.waiting = append(q.waiting, c)
	q.count++
	q.bytes += len(c.Value)
	select {
	case q.more <- struct{}{}:
	default:
	}
	return true
}

// empty hands the changes on.
func (q *queue) empty(ctx context.Context, each func(Change)) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-q.more:
		}
		q.mu.Lock()
		taken := q.waiting
		q.waiting = nil
		q.mu.Unlock()
		for _, c := range taken {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			each(c)
			q.mu.Lock()
			q.count--
			q.bytes -= len(c.Value)
			q.mu.Unlock()
			select {
			case q.less <- struct{}{}:
			default:
			}
		}
	}
}

func changeOf(e *mvccpb.Event) Change {
	return Change{Pair: Pair{Key: e.Kv.Key, Value: e.Kv.Value}, Revision: e.Kv.ModRevision,
		Removed: e.Type == mvccpb.Event_DELETE, Created: e.Type == mvccpb.Event_PUT && e.Kv.CreateRevision == e.Kv.ModRevision}
}

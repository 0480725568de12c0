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
// changes, of 16 MiB, wait for it. Then Follow ends with [ErrBehind].
//
// They do not wait in etcd. It reads all that a slow watcher has missed under the lock that writes need, again for each
// thousand of changes (syncWatchers in storage/mvcc/watchable_store.go).
func (s *Server) Follow(ctx context.Context, prefix string, from int64, begun func(), each func(Change)) error {
	return s.call(ctx, func(ctx context.Context, server *etcdserver.EtcdServer) error {
		stream := server.Watchable().NewWatchStream()
		defer stream.Close()
		if _, err := stream.Watch(ctx, clientv3.AutoWatchID, []byte(prefix), prefixEnd(prefix), from); err != nil {
			return fmt.Errorf("follow the changes of etcd: %w", err)
		}
		begun()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		q := &queue{more: make(chan struct{}, 1)}
		go func() { cancel(q.fill(ctx, stream)) }()
		return q.empty(ctx, each)
	})
}

// queue holds the changes that a follower has not taken yet.
type queue struct {
	more chan struct{} // has an element once there may be more

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
				if !q.put(changeOf(e)) {
					return ErrBehind
				}
			}
		}
	}
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
		}
	}
}

func changeOf(e *mvccpb.Event) Change {
	return Change{Pair: Pair{Key: e.Kv.Key, Value: e.Kv.Value}, Revision: e.Kv.ModRevision,
		Removed: e.Type == mvccpb.Event_DELETE, Created: e.Type == mvccpb.Event_PUT && e.Kv.CreateRevision == e.Kv.ModRevision}
}

package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

// A Change is a write to one key.
type Change struct {
	Pair             // without a value if the key was removed
	Revision         int64
	Created, Removed bool
}

// Revision is that of the last write to the store.
func (s *Server) Revision() int64 { return s.etcd.Server.KV().Rev() }

// Follow calls each for every change below prefix, in order, until ctx ends or the server stops. It calls begun first:
// what is written from then on is reported. Each may be slow: changes wait for it.
func (s *Server) Follow(ctx context.Context, prefix string, begun func(), each func(Change)) error {
	return s.call(ctx, func(ctx context.Context, server *etcdserver.EtcdServer) error {
		stream := server.Watchable().NewWatchStream()
		defer stream.Close()
		if _, err := stream.Watch(ctx, clientv3.AutoWatchID, []byte(prefix), prefixEnd(prefix), 0); err != nil {
			return fmt.Errorf("follow the changes of etcd: %w", err)
		}
		begun()
		for {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case response := <-stream.Chan():
				if response.CompactRevision != 0 {
					return fmt.Errorf("follow the changes of etcd: those before %d are gone", response.CompactRevision)
				}
				for _, e := range response.Events {
					each(changeOf(e))
				}
			}
		}
	})
}

func changeOf(e *mvccpb.Event) Change {
	return Change{Pair: Pair{Key: e.Kv.Key, Value: e.Kv.Value}, Revision: e.Kv.ModRevision,
		Removed: e.Type == mvccpb.Event_DELETE, Created: e.Type == mvccpb.Event_PUT && e.Kv.CreateRevision == e.Kv.ModRevision}
}

package etcd_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// TestStopUnderRequests: clients of either kind go on with requests of every kind while the server stops. None of them
// meets a closed store, which would end this process with a nil pointer in a handler of etcd.
func TestStopUnderRequests(t *testing.T) {
	const rounds, clients = 5, 8
	for range rounds {
		s := start(t, t.TempDir(), false)
		if err := s.Write(t.Context(), []etcd.Pair{{Key: []byte("/a"), Value: []byte("value")}}); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		var answered sync.WaitGroup // each client once, before the stop
		for i := range clients {
			for _, use := range []func(context.Context, *etcd.Server) func() error{overGRPC, calling} {
				answered.Add(1)
				request := use(t.Context(), s)
				group.Go(func() {
					err := request()
					answered.Done()
					for ; err == nil; err = request() {
					}
					if i == 0 && request() == nil {
						t.Error("a server that was stopped answers")
					}
				})
			}
		}
		answered.Wait()
		begin := time.Now()
		s.Stop()
		if took := time.Since(begin); took > testlimit.Hang { // one that waits for its clients has no end
			t.Errorf("stopping took %v", took)
		}
		group.Wait()
		s.Stop() // once more does nothing
		if _, err := s.Read(t.Context(), "/a"); !errors.Is(err, etcd.ErrStopped) {
			t.Errorf("a request after the stop: %v", err)
		}
	}
}

// overGRPC asks as an API server does, which also has a watch open.
func overGRPC(ctx context.Context, s *etcd.Server) func() error {
	conn, err := grpc.NewClient("passthrough:///etcd", grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		return s.Dial(ctx, "", address)
	}), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return func() error { return err }
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	watch, err := pb.NewWatchClient(conn).Watch(ctx)
	if err == nil {
		err = watch.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("/a")}}})
	}
	if err != nil {
		return func() error { return err }
	}
	status, kv := pb.NewMaintenanceClient(conn), pb.NewKVClient(conn)
	return func() error {
		_, statusErr := status.Status(ctx, &pb.StatusRequest{})
		_, rangeErr := kv.Range(ctx, &pb.RangeRequest{Key: []byte("/a"), Serializable: true})
		_, putErr := kv.Put(ctx, &pb.PutRequest{Key: []byte("/a"), Value: []byte("value")})
		return errors.Join(statusErr, rangeErr, putErr)
	}
}

// calling asks as the rest of this process does.
func calling(ctx context.Context, s *etcd.Server) func() error {
	return func() error {
		_, readErr := s.Read(ctx, "/")
		_, _, sizeErr := s.Size(ctx, "/")
		_, applyErr := s.Apply(ctx, nil, []etcd.Pair{{Key: []byte("/b"), Value: []byte("value")}})
		return errors.Join(readErr, sizeErr, applyErr)
	}
}

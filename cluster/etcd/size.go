package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

// Size returns how many keys lie under prefix, and how many bytes the whole store takes on disk.
func (s *Server) Size(ctx context.Context, prefix string) (keys int, bytes int64, err error) {
	err = s.call(ctx, func(ctx context.Context, server *etcdserver.EtcdServer) error {
		answer, err := server.Range(ctx, &pb.RangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix), CountOnly: true})
		if err != nil {
			return err
		}
		keys, bytes = int(answer.Count), server.Backend().Size()
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count %s in etcd: %w", prefix, err)
	}
	return keys, bytes, nil
}

package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Size returns how many keys lie under prefix, and how many bytes the whole store takes on disk.
func (s *Server) Size(ctx context.Context, prefix string) (keys int, bytes int64, err error) {
	answer, err := s.etcd.Server.Range(ctx, &pb.RangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix), CountOnly: true})
	if err != nil {
		return 0, 0, fmt.Errorf("count %s in etcd: %w", prefix, err)
	}
	return int(answer.Count), s.etcd.Server.Backend().Size(), nil
}

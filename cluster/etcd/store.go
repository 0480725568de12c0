package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

// A Pair is one key with its value.
type Pair struct{ Key, Value []byte }

// MaxTransaction is the size, in bytes, up to which changes should make one transaction. A
// request to etcd may have half as much again.
const MaxTransaction = 1 << 20

// Write stores all pairs: in one transaction up to [MaxTransaction], and in several, in order, beyond.
func (s *Server) Write(ctx context.Context, pairs []Pair) error {
	begin, size := 0, 0
	for i, p := range pairs {
		n := len(p.Key) + len(p.Value)
		if size += n; size > MaxTransaction && i > begin {
			if _, err := s.Apply(ctx, nil, pairs[begin:i]); err != nil {
				return err
			}
			begin, size = i, n
		}
	}
	_, err := s.Apply(ctx, nil, pairs[begin:])
	return err
}

// Apply removes keys and stores pairs, no key of which is among those removed. It is one transaction, all or
// nothing, whose revision is returned; that is 0 if there is nothing to do. More than a request may have is refused.
func (s *Server) Apply(ctx context.Context, remove [][]byte, put []Pair) (revision int64, err error) {
	txn := &pb.TxnRequest{}
	for _, key := range remove {
		txn.Success = append(txn.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: key}}})
	}
	for _, p := range put {
		txn.Success = append(txn.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: p.Key, Value: p.Value}}})
	}
	if len(txn.Success) == 0 {
		return 0, nil
	}
	answer, err := ask(ctx, s, (*etcdserver.EtcdServer).Txn, txn)
	if err != nil {
		return 0, fmt.Errorf("change %d keys in etcd: %w", len(txn.Success), err)
	}
	return answer.Header.Revision, nil
}

// Has says whether there is a key.
func (s *Server) Has(ctx context.Context, key []byte) (bool, error) {
	answer, err := ask(ctx, s, (*etcdserver.EtcdServer).Range, &pb.RangeRequest{Key: key, CountOnly: true})
	if err != nil {
		return false, fmt.Errorf("look for %s in etcd: %w", key, err)
	}
	return answer.Count > 0, nil
}

// Delete removes all keys under prefix.
func (s *Server) Delete(ctx context.Context, prefix string) error {
	if _, err := ask(ctx, s, (*etcdserver.EtcdServer).DeleteRange, &pb.DeleteRangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix)}); err != nil {
		return fmt.Errorf("remove %s from etcd: %w", prefix, err)
	}
	return nil
}

// A Snapshot is a consistent reading of the store.
type Snapshot struct {
	Revision int64  // of the whole store; grows with every write
	Pairs    []Pair // sorted by key
}

// Read returns all keys under prefix.
func (s *Server) Read(ctx context.Context, prefix string) (Snapshot, error) {
	return s.read(ctx, &pb.RangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix)})
}

// At returns the value that a key had at a revision, nil if it had none.
func (s *Server) At(ctx context.Context, key []byte, revision int64) ([]byte, error) {
	answer, err := ask(ctx, s, (*etcdserver.EtcdServer).Range, &pb.RangeRequest{Key: key, Revision: revision, Serializable: true})
	if err != nil {
		return nil, fmt.Errorf("read %s from etcd: %w", key, err)
	}
	if len(answer.Kvs) == 0 {
		return nil, nil
	}
	return answer.Kvs[0].Value, nil
}

// Empty says whether no key lies under prefix.
func (s *Server) Empty(ctx context.Context, prefix string) (bool, error) {
	snap, err := s.read(ctx, &pb.RangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix), Limit: 1, KeysOnly: true})
	return len(snap.Pairs) == 0, err
}

func (s *Server) read(ctx context.Context, r *pb.RangeRequest) (Snapshot, error) {
	answer, err := ask(ctx, s, (*etcdserver.EtcdServer).Range, r)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read %s from etcd: %w", r.Key, err)
	}
	snap := Snapshot{Revision: answer.Header.Revision}
	for _, kv := range answer.Kvs {
		snap.Pairs = append(snap.Pairs, Pair{Key: kv.Key, Value: kv.Value})
	}
	return snap, nil
}

// prefixEnd is the first key behind all keys that start with prefix, which must
// be an ASCII path.
func prefixEnd(prefix string) []byte {
	end := []byte(prefix)
	end[len(end)-1]++
	return end
}

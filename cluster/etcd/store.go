package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// A Pair is one key with its value.
type Pair struct{ Key, Value []byte }

// Write stores all pairs in one transaction: all of them or none.
func (s *Server) Write(ctx context.Context, pairs []Pair) error {
	_, err := s.Apply(ctx, nil, pairs)
	return err
}

// maxTransaction is the size, in bytes, up to which changes make one transaction. A
// request to etcd may have half as much again.
const maxTransaction = 1 << 20

// Apply removes keys and stores pairs, no key of which is among those removed. It is one
// transaction, all or nothing, up to a megabyte, and several in order beyond. The first revision
// that has any of it is returned, 0 if there is nothing to do.
func (s *Server) Apply(ctx context.Context, remove [][]byte, put []Pair) (revision int64, err error) {
	txn, size := &pb.TxnRequest{}, 0
	add := func(op *pb.RequestOp, n int) error {
		if size += n; size > maxTransaction && len(txn.Success) > 0 {
			if err := s.commit(ctx, txn, &revision); err != nil {
				return err
			}
			txn, size = &pb.TxnRequest{}, n
		}
		txn.Success = append(txn.Success, op)
		return nil
	}
	for _, key := range remove {
		op := &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: key}}}
		if err := add(op, len(key)); err != nil {
			return revision, err
		}
	}
	for _, p := range put {
		op := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: p.Key, Value: p.Value}}}
		if err := add(op, len(p.Key)+len(p.Value)); err != nil {
			return revision, err
		}
	}
	err = s.commit(ctx, txn, &revision)
	return revision, err
}

// commit remembers the revision of the first transaction.
func (s *Server) commit(ctx context.Context, txn *pb.TxnRequest, first *int64) error {
	if len(txn.Success) == 0 {
		return nil
	}
	answer, err := s.etcd.Server.Txn(ctx, txn)
	if err != nil {
		return fmt.Errorf("change %d keys in etcd: %w", len(txn.Success), err)
	}
	if *first == 0 {
		*first = answer.Header.Revision
	}
	return nil
}

// Delete removes all keys under prefix.
func (s *Server) Delete(ctx context.Context, prefix string) error {
	if _, err := s.etcd.Server.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix)}); err != nil {
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

// Empty says whether no key lies under prefix.
func (s *Server) Empty(ctx context.Context, prefix string) (bool, error) {
	snap, err := s.read(ctx, &pb.RangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix), Limit: 1, KeysOnly: true})
	return len(snap.Pairs) == 0, err
}

func (s *Server) read(ctx context.Context, r *pb.RangeRequest) (Snapshot, error) {
	answer, err := s.etcd.Server.Range(ctx, r)
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

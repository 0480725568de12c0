package etcd

import (
	"context"
	"errors"
	"sync"

	"go.etcd.io/etcd/server/v3/etcdserver"
)

// ErrStopped marks a request that came after [Server.Stop], or that Stop broke off.
var ErrStopped = errors.New("etcd is stopping")

// calls are the requests of this process that do not come over gRPC. The store must not be closed under them.
type calls struct {
	life   context.Context // ends when no more may come
	cancel context.CancelFunc

	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

func newCalls() *calls {
	c := &calls{}
	c.life, c.cancel = context.WithCancel(context.Background())
	return c
}

// stop refuses further calls and breaks off those under way. It returns when all have ended.
func (c *calls) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.cancel()
	c.running.Wait()
}

// enter is false once no more calls may come. After it, running.Done must follow.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	c.running.Add(1)
	return true
}

// call runs do unless the server is stopping. The context that do gets ends when the server stops.
func (s *Server) call(ctx context.Context, do func(context.Context, *etcdserver.EtcdServer) error) error {
	if !s.calls.enter() {
		return ErrStopped
	}
	defer s.calls.running.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.calls.life, func() { cancel(ErrStopped) })()
	err := do(ctx, s.etcd.Server)
	if err != nil && errors.Is(context.Cause(ctx), ErrStopped) {
		return errors.Join(ErrStopped, err)
	}
	return err
}

// ask is [Server.call] for a request that etcd answers.
func ask[Request, Answer any](ctx context.Context, s *Server, of func(*etcdserver.EtcdServer, context.Context, Request) (Answer, error), r Request) (answer Answer, err error) {
	err = s.call(ctx, func(ctx context.Context, server *etcdserver.EtcdServer) (err error) {
		answer, err = of(server, ctx, r)
		return err
	})
	return answer, err
}

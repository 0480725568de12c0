package machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

var (
	// ErrEnded means that the machine ended by itself during a request. Another one replaces it.
	ErrEnded = errors.New("the nodes' machine has ended")
	// ErrGivenUp means that the machine ended too often and is not restarted.
	ErrGivenUp = errors.New("the nodes' machine ended too often and is not restarted")
)

// Kept restarts its machine when that ends by itself, as service managers restart services. After several ends in a row
// it gives up, until [Kept.Revive].
type Kept struct {
	begin func(context.Context) (*Machine, error)
	log   *slog.Logger
	life  context.Context // ends with Stop
	stop  context.CancelFunc
	group sync.WaitGroup

	mu      sync.Mutex
	last    *Machine      // the running one, or the one that ended last
	problem error         // the reason why no machine is started any more
	changed chan struct{} // closed when last or problem changes
}

// Keep starts a machine with begin, and keeps one running until [Kept.Stop]. log receives the restarts.
func Keep(ctx context.Context, begin func(context.Context) (*Machine, error), log *slog.Logger) (*Kept, error) {
	m, err := begin(ctx)
	if errors.Is(err, ErrEnded) {
		m, err = begin(ctx)
	}
	if err != nil {
		return nil, err
	}
	k := &Kept{begin: begin, log: log, last: m, changed: make(chan struct{})}
	k.life, k.stop = context.WithCancel(context.Background())
	k.group.Go(func() { k.keep(m) })
	return k, nil
}

// keep waits for the end of m and starts its successors. If m is nil it starts one first.
func (k *Kept) keep(m *Machine) {
	var r endCounter
	for {
		how, lived := k.waitAndStop(m)
		if k.life.Err() != nil {
			return
		}
		pause, goOn := r.end(lived)
		if !goOn {
			k.giveUp(r.ends, how)
			return
		}
		k.log.Warn("the nodes' machine has ended and is restarted with its nodes", "how", how, "pause", pause)
		select {
		case <-time.After(pause):
			m = nil
		case <-k.life.Done():
			return
		}
	}
}

// waitAndStop waits for the end of a machine and cleans up after it. If m is nil it starts one first. It returns how
// the machine ended, and the time that it ran: 0 if it could not start.
func (k *Kept) waitAndStop(m *Machine) (how string, lived time.Duration) {
	if m == nil {
		var err error
		if m, err = k.begin(k.life); err != nil {
			return err.Error(), 0
		}
		k.set(m, nil)
	}
	began := time.Now()
	select {
	case <-m.Ended():
	case <-k.life.Done():
	}
	lived = time.Since(began)
	m.Stop()
	return m.Status(), lived
}

func (k *Kept) giveUp(ends int, how string) {
	err := fmt.Errorf("%w (%d times, at last: %s): `slipway cluster node start NAME` starts it, and a node", ErrGivenUp, ends, how)
	k.log.Error("real nodes stay stopped", "error", err)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.change(k.last, err)
}

func (k *Kept) set(m *Machine, problem error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.change(m, problem)
}

// change requires k.mu.
func (k *Kept) change(m *Machine, problem error) {
	k.last, k.problem = m, problem
	close(k.changed)
	k.changed = make(chan struct{})
}

// Revive starts a machine again after the previous one was given up. Otherwise it does nothing.
func (k *Kept) Revive() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.problem == nil || k.life.Err() != nil {
		return
	}
	k.change(k.last, nil)
	k.group.Go(func() { k.keep(nil) })
}

// Await waits until the machine runs. The returned channel is closed when that machine ends. Await goes on waiting
// after the machine was given up.
func (k *Kept) Await(ctx context.Context) (ended <-chan struct{}, err error) {
	m, err := k.await(ctx, true)
	if err != nil {
		return nil, err
	}
	return m.Ended(), nil
}

// Standing waits until the machine runs. It fails with [ErrGivenUp] if the machine was given up.
func (k *Kept) Standing(ctx context.Context) error {
	_, err := k.await(ctx, false)
	return err
}

func (k *Kept) await(ctx context.Context, patient bool) (*Machine, error) {
	for {
		m, changed, err := k.look()
		if m != nil || err != nil && !patient {
			return m, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-k.life.Done():
			return nil, ErrEnded
		}
	}
}

// look returns the running machine, or nil with the reason if it was given up.
func (k *Kept) look() (m *Machine, changed <-chan struct{}, problem error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.last.Ended():
		return nil, k.changed, k.problem
	default:
		return k.last, k.changed, nil
	}
}

// now returns the running machine, or an error without waiting.
func (k *Kept) now() (*Machine, error) {
	m, _, problem := k.look()
	switch {
	case problem != nil:
		return nil, problem
	case m == nil:
		return nil, ErrEnded
	}
	return m, nil
}

// latest returns the machine that runs or ran last.
func (k *Kept) latest() *Machine {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// Problem returns the reason why the machine was given up, or "".
func (k *Kept) Problem() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.problem == nil {
		return ""
	}
	return k.problem.Error()
}

// Ended is closed by [Kept.Stop], not by the end of a machine.
func (k *Kept) Ended() <-chan struct{} { return k.life.Done() }

// Stop ends the machine and all processes on it, and returns when they have ended.
func (k *Kept) Stop() {
	k.mu.Lock()
	k.stop()
	k.mu.Unlock()
	k.group.Wait()
}

// IDs returns [Machine.IDs] of the latest machine.
func (k *Kept) IDs() bool { return k.latest().IDs() }

// Limits returns [Machine.Limits] of the latest machine.
func (k *Kept) Limits() bool { return k.latest().Limits() }

// Unlimited returns [Machine.Unlimited] of the latest machine.
func (k *Kept) Unlimited() string { return k.latest().Unlimited() }

// OwnNetwork returns [Machine.OwnNetwork] of the latest machine.
func (k *Kept) OwnNetwork() bool { return k.latest().OwnNetwork() }

// Place returns [Machine.Place] of the latest machine.
func (k *Kept) Place(node string) (*nodeconfig.Plain, error) { return k.latest().Place(node) }

// DialContext connects to an address in the running machine's network.
func (k *Kept) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	m, err := k.now()
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", address, err)}
	}
	return m.DialContext(ctx, network, address)
}

// Listen listens in the running machine's network. The listener ends with that machine.
func (k *Kept) Listen(ctx context.Context, address string) (net.Listener, error) {
	m, err := k.now()
	if err != nil {
		return nil, err
	}
	return m.Listen(ctx, address)
}

// ListenPacket receives packets in the running machine's network, until that machine ends.
func (k *Kept) ListenPacket(ctx context.Context, address string) (net.PacketConn, error) {
	m, err := k.now()
	if err != nil {
		return nil, err
	}
	return m.ListenPacket(ctx, address)
}

// ListenOutside calls [Machine.ListenOutside]. The listener ends with that machine.
func (k *Kept) ListenOutside(ctx context.Context, address string, keep []netip.Prefix) (net.Listener, error) {
	m, err := k.now()
	if err != nil {
		return nil, err
	}
	return m.ListenOutside(ctx, address, keep)
}

// StartNode starts a node on the running machine. The error is [ErrEnded] if the machine ends meanwhile.
func (k *Kept) StartNode(ctx context.Context, o NodeOptions) (*Node, error) {
	m, err := k.now()
	if err != nil {
		return nil, err
	}
	n, err := m.StartNode(ctx, o)
	if err != nil && k.ended(m) {
		return nil, fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return n, err
}

// KillNode ends a node at once, if it runs. It returns nil without a machine, because nodes end with it.
func (k *Kept) KillNode(ctx context.Context, name string) error {
	m, err := k.now()
	if err != nil {
		return nil
	}
	if err := m.KillNode(ctx, name); err != nil && !k.ended(m) {
		return err
	}
	return nil
}

// endLimit bounds the wait for the end of a machine whose socket has closed.
const endLimit = time.Second

// ended reports whether the machine has ended. It waits up to endLimit, because the socket can close first.
func (k *Kept) ended(m *Machine) bool {
	timer := time.NewTimer(endLimit)
	defer timer.Stop()
	select {
	case <-m.Ended():
		return true
	case <-timer.C:
		return false
	}
}

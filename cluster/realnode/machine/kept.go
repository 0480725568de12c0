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
	// ErrEnded says that the machine ended by itself before it had done what it was asked for. Another one takes its
	// place.
	ErrEnded = errors.New("the nodes' machine has ended")
	// ErrGivenUp says that the machine ended so often that it is not started again.
	ErrGivenUp = errors.New("the nodes' machine ended too often and is not restarted")
)

// Kept is a machine that is started again when it ends by itself, as service managers do with their services. It is
// given up when it ends several times in a row, until [Kept.Revive].
type Kept struct {
	begin func(context.Context) (*Machine, error)
	log   *slog.Logger
	life  context.Context // until Stop
	stop  context.CancelFunc
	group sync.WaitGroup

	mu      sync.Mutex
	last    *Machine      // the one that runs or, between two, the one that has ended
	problem error         // why none is started any more
	changed chan struct{} // closed when last or problem changes
}

// Keep begins the first machine, and keeps one running until [Kept.Stop]. Its log is for what it does by itself.
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

// keep starts machines in place of m, and of those that follow. Without m it begins with a start.
func (k *Kept) keep(m *Machine) {
	var r row
	for {
		how, lived := k.outlive(m)
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

// outlive waits for a machine's end, which it begins if that is nil, and removes what it leaves. It returns how the
// machine ended, and how long it ran: not at all if it could not be begun.
func (k *Kept) outlive(m *Machine) (how string, lived time.Duration) {
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

// change needs k.mu.
func (k *Kept) change(m *Machine, problem error) {
	k.last, k.problem = m, problem
	close(k.changed)
	k.changed = make(chan struct{})
}

// Revive starts a machine anew that was given up.
func (k *Kept) Revive() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.problem == nil || k.life.Err() != nil {
		return
	}
	k.change(k.last, nil)
	k.group.Go(func() { k.keep(nil) })
}

// Await waits until the machine runs, and returns what is closed when it has ended. It goes on waiting for one that was
// given up.
func (k *Kept) Await(ctx context.Context) (ended <-chan struct{}, err error) {
	m, err := k.await(ctx, true)
	if err != nil {
		return nil, err
	}
	return m.Ended(), nil
}

// Standing waits until the machine runs, and fails with [ErrGivenUp] if it will not.
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

// look returns the machine that runs; nil for none, with why none will.
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

// now is the machine that runs.
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

// latest is the machine that runs or ran last.
func (k *Kept) latest() *Machine {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// Problem says why the machine is not started again; it is empty while it runs or is about to.
func (k *Kept) Problem() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.problem == nil {
		return ""
	}
	return k.problem.Error()
}

// Ended is closed when [Kept.Stop] is called.
func (k *Kept) Ended() <-chan struct{} { return k.life.Done() }

// Stop ends the machine and all that runs on it, and returns when it has ended. No other one follows.
func (k *Kept) Stop() {
	k.mu.Lock()
	k.stop()
	k.mu.Unlock()
	k.group.Wait()
}

// IDs is that of the machine.
func (k *Kept) IDs() bool { return k.latest().IDs() }

// Limits is that of the machine.
func (k *Kept) Limits() bool { return k.latest().Limits() }

// Unlimited is that of the machine.
func (k *Kept) Unlimited() string { return k.latest().Unlimited() }

// OwnNetwork is that of the machine.
func (k *Kept) OwnNetwork() bool { return k.latest().OwnNetwork() }

// Place is that of the machine.
func (k *Kept) Place(node string) (*nodeconfig.Plain, error) { return k.latest().Place(node) }

// DialContext connects to an address of the network of the machine that runs.
func (k *Kept) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	m, err := k.now()
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", address, err)}
	}
	return m.DialContext(ctx, network, address)
}

// Listen listens in the network of the machine that runs, and goes with it.
func (k *Kept) Listen(ctx context.Context, address string) (net.Listener, error) {
	m, err := k.now()
	if err != nil {
		return nil, err
	}
	return m.Listen(ctx, address)
}

// ListenPacket takes packets in the network of the machine that runs, and goes with it.
func (k *Kept) ListenPacket(ctx context.Context, address string) (net.PacketConn, error) {
	m, err := k.now()
	if err != nil {
		return nil, err
	}
	return m.ListenPacket(ctx, address)
}

// ListenOutside is that of the machine that runs, and goes with it.
func (k *Kept) ListenOutside(ctx context.Context, address string, keep []netip.Prefix) (net.Listener, error) {
	m, err := k.now()
	if err != nil {
		return nil, err
	}
	return m.ListenOutside(ctx, address, keep)
}

// StartNode starts a node on the machine that runs. The error is [ErrEnded] if that ends meanwhile.
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

// KillNode ends a node at once, if it runs. A machine's end is its nodes' end.
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

// endLimit bounds the wait for the end of a machine that does not answer any more: it has ended, unless something else
// is amiss.
const endLimit = time.Second

// ended says whether that machine has ended. Its socket may have done so a moment before.
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

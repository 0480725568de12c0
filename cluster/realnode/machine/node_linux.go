package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// StartNode starts the program slipway-node as the node of that name, in a folder of its own below the machine's state.
func (m *Machine) StartNode(ctx context.Context, o NodeOptions) (*Node, error) {
	n := &Node{ended: make(chan struct{})}
	m.mu.Lock()
	if m.nodes[o.Name] != nil {
		m.mu.Unlock()
		return nil, fmt.Errorf("node %s runs", o.Name)
	}
	m.nodes[o.Name] = n
	m.mu.Unlock()
	if err := m.startNode(ctx, o); err != nil {
		m.mu.Lock()
		delete(m.nodes, o.Name)
		m.mu.Unlock()
		return nil, fmt.Errorf("start node %s: %w", o.Name, err)
	}
	return n, nil
}

func (m *Machine) startNode(ctx context.Context, o NodeOptions) error {
	for _, folder := range []string{o.Name, wire.VolumesFolder} {
		if err := m.makeFolder(folder); err != nil {
			return err
		}
	}
	program, err := os.Open(o.Program)
	if err != nil {
		return err
	}
	defer program.Close()
	if err := m.runnable(program); err != nil {
		return err
	}
	fromLog, log, err := os.Pipe()
	if err != nil {
		return err
	}
	defer log.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return errors.Join(err, fromLog.Close())
	}
	defer unix.Close(pair[1])
	go m.serve(context.WithoutCancel(ctx), pair[0], o.Ways)
	go copyLines(o.Log, fromLog)
	// The answer comes at once, and who does not wait for it would not know whether the node runs.
	_, err = m.conn.Ask(context.WithoutCancel(ctx), wire.Request{Start: &wire.Node{Name: o.Name, IDs: m.ids}},
		int(program.Fd()), int(o.Talk.Fd()), int(log.Fd()), pair[1])
	return err
}

// serve does what a node asks of the host, until the node ends.
func (m *Machine) serve(ctx context.Context, conn int, ways fdpass.Ways) {
	host := fdpass.Host{Ways: ways}
	if m.groups == nil {
		fdpass.Serve(ctx, conn, host)
		return
	}
	groups := m.groups.Node()
	host.Groups = groups
	fdpass.Serve(ctx, conn, host)
	_ = groups.Close() // what is left of it goes with the cluster's
}

// forOthers is what a program's mode says when those can run it whom it does not belong to.
const forOthers = 0o005

// runnable says whether the nodes' users, who are nobody else on this machine, can run a program.
func (m *Machine) runnable(program *os.File) error {
	info, err := program.Stat()
	if err != nil {
		return err
	}
	if m.owner && info.Mode()&forOthers != forOthers {
		return fmt.Errorf("%w: %s has the mode %s, and nodes run as separate users: chmod a+rx %[2]s", fs.ErrPermission, program.Name(), info.Mode())
	}
	return nil
}

// makeFolder makes a node's folder, or the one of volumes, which belongs to whom the state does.
func (m *Machine) makeFolder(name string) error {
	dir := filepath.Join(m.state, name)
	if err := os.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !m.owner {
		return nil
	}
	return os.Chown(dir, m.base, m.base)
}

// folderMode lets the node's root alone in; containers find what is mounted.
const folderMode = 0o711

// KillNode ends a node at once, if it runs, and returns when nothing of it is left.
func (m *Machine) KillNode(ctx context.Context, name string) error {
	m.mu.Lock()
	n := m.nodes[name]
	m.mu.Unlock()
	if n == nil {
		return nil
	}
	if _, err := m.conn.Ask(ctx, wire.Request{Kill: name}); err != nil {
		return err
	}
	select {
	case <-n.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Machine) exited(name string, how end) {
	m.mu.Lock()
	n := m.nodes[name]
	delete(m.nodes, name)
	m.mu.Unlock()
	if n != nil {
		n.end = how
		close(n.ended)
	}
}

// lose ends what cannot be heard of any more.
func (m *Machine) lose() {
	m.mu.Lock()
	names := make([]string, 0, len(m.nodes))
	for name := range m.nodes {
		names = append(names, name)
	}
	m.mu.Unlock()
	for _, name := range names {
		m.exited(name, end{status: "its machine has ended", fell: true})
	}
}

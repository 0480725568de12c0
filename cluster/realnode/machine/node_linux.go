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

// StartNode starts slipway-node as a node with its own folder below the machine's state.
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
	// If ctx cancelled the wait for the reply, which comes at once, the caller could not know whether the node runs.
	_, err = m.conn.Ask(context.WithoutCancel(ctx), wire.Request{Start: &wire.Node{Name: o.Name, IDs: m.ids}},
		int(program.Fd()), int(o.Talk.Fd()), int(log.Fd()), pair[1])
	return err
}

// serve answers the node's requests to the host until the node ends.
func (m *Machine) serve(ctx context.Context, conn int, ways fdpass.Ways) {
	host := fdpass.Host{Ways: ways}
	if m.groups == nil {
		fdpass.Serve(ctx, conn, host)
		return
	}
	groups := m.groups.Node()
	host.Groups = groups
	fdpass.Serve(ctx, conn, host)
	_ = groups.Close() // Tree.Close removes what remains
}

// forOthers are the bits of a file's mode that let other users read and run it.
const forOthers = 0o005

// runnable returns an error if the nodes' ids, which own nothing else on this machine, cannot run a program.
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

// makeFolder makes a folder of a node, or of the volumes, with the owner of the state.
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

// folderMode lets only the node's root list a folder. Containers can still enter what is mounted from it.
const folderMode = 0o711

// KillNode ends a node at once, if it runs, and returns when all its processes have ended.
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

// lose marks the remaining nodes as ended with the machine.
func (m *Machine) lose() {
	m.mu.Lock()
	names := make([]string, 0, len(m.nodes))
	for name := range m.nodes {
		names = append(names, name)
	}
	m.mu.Unlock()
	for _, name := range names {
		m.exited(name, end{status: "its machine has ended", withMachine: true})
	}
}

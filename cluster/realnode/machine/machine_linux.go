package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/cgroup"
	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/realnode/subid"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Machine is a running machine.
type Machine struct {
	ids   bool       // many ids are mapped
	owner bool       // the state belongs to ids that only root can use
	base  int        // the first of those ids
	sub   *subid.IDs // an ordinary user's subordinate ids; nil for root, and if there are none
	state string
	conn  *fdpass.Client
	ready chan struct{} // closed when the machine reports that it is ready
	begun sync.Once
	ended chan struct{} // closed when the process has ended
	cmd   *exec.Cmd

	groups    *cgroup.Tree // nil if there can be none
	unlimited error        // the reason why groups is nil

	mu    sync.Mutex
	nodes map[string]*Node
}

// idRange is the number of ids in a user namespace made by root.
const idRange = 1 << 16

// Start starts a machine. For root, its user namespace has a range of ids of its own. For an ordinary user it has the
// user's subordinate ids or, without any, the user's one id.
func Start(ctx context.Context, o Options) (*Machine, error) {
	if os.Geteuid() != 0 {
		ids, err := subid.Find()
		if err == nil {
			var m *Machine
			if m, err = start(ctx, o, &ids); err == nil {
				return m, nil
			}
		}
		if !errors.Is(err, subid.ErrNone) {
			return nil, err
		}
		o.say("nodes have only one user id: %v", err)
	}
	return start(ctx, o, nil)
}

func (o Options) say(format string, args ...any) {
	if o.Log != nil {
		_, _ = fmt.Fprintf(o.Log, "slipway: "+format+"\n", args...)
	}
}

func start(ctx context.Context, o Options, sub *subid.IDs) (*Machine, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("start the nodes' machine: %w", err)
	}
	root := os.Geteuid() == 0
	m := &Machine{ids: root || sub != nil, owner: root, sub: sub, state: o.State, nodes: map[string]*Node{}, ready: make(chan struct{}), ended: make(chan struct{})}
	cmd, given, err := m.command(o, os.NewFile(uintptr(pair[1]), "machine"))
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, explain(err)
	}
	if err := m.startWithIDs(ctx, cmd, given); err != nil {
		_ = unix.Close(pair[0])
		return nil, explain(err)
	}
	m.cmd = cmd
	m.conn = fdpass.NewClient(pair[0], m.news)
	m.groups, m.unlimited = cgroup.Open(cgroup.Options{Sweeper: o.Program, Log: o.Log})
	go func() {
		<-m.ended
		m.lose()
	}()
	select {
	case <-m.ready:
		return m, nil
	case <-m.ended:
		m.Stop()
		return nil, notStarted(cmd.ProcessState)
	case <-ctx.Done():
		m.Stop()
		return nil, context.Cause(ctx)
	}
}

// IDs reports whether nodes have many user ids, or only one.
func (m *Machine) IDs() bool { return m.ids }

// OwnNetwork returns true: the machine has a network of its own.
func (m *Machine) OwnNetwork() bool { return true }

// Place returns nil, because the nodes have namespaces.
func (m *Machine) Place(string) (*nodeconfig.Plain, error) { return nil, nil }

// startWithIDs starts the process. An ordinary user's process then waits for its ids, which startWithIDs maps.
func (m *Machine) startWithIDs(ctx context.Context, cmd *exec.Cmd, given *os.File) error {
	if given != nil {
		defer given.Close()
	}
	if err := startTied(cmd, m.ended); err != nil || m.sub == nil {
		return err
	}
	err := m.sub.Give(ctx, cmd.Process.Pid)
	if err == nil {
		_, err = io.WriteString(given, ".")
	}
	if err != nil {
		_ = cmd.Process.Kill() // it may have ended already
		<-m.ended
	}
	return err
}

// command returns the process and, if it must wait for its ids, the pipe to write to when they are mapped.
func (m *Machine) command(o Options, conn *os.File) (cmd *exec.Cmd, given *os.File, err error) {
	program, err := os.Open(o.Program)
	if err != nil {
		return nil, nil, fmt.Errorf("start the nodes' machine: %w", err)
	}
	defer program.Close()
	if err := m.runnable(program); err != nil {
		return nil, nil, fmt.Errorf("start the nodes' machine: %w", err)
	}
	config, err := json.Marshal(wire.MachineConfig{State: o.State, IDs: m.ids, Wait: m.sub != nil})
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(o.Program, wire.PartMachine, string(config))
	cmd.Env = []string{"GOMAXPROCS=2"}
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = o.Log, o.Log
	cmd.ExtraFiles = []*os.File{conn}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL, Setsid: true,
	}
	if m.sub != nil {
		var wait *os.File
		if wait, given, err = os.Pipe(); err != nil {
			return nil, nil, fmt.Errorf("start the nodes' machine: %w", err)
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, wait)
	}
	return cmd, given, m.identify(cmd.SysProcAttr)
}

// identify sets the ids of the process in its user namespace.
func (m *Machine) identify(attr *syscall.SysProcAttr) error {
	switch {
	case m.sub != nil: // no id until subordinate ones are mapped
		attr.AmbientCaps = containerinit.AllRights()
		return nil
	case !m.ids:
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		return nil
	}
	var err error
	if m.base, err = owned(m.state); err != nil {
		return err
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: m.base, Size: idRange}}
	attr.GidMappings, attr.GidMappingsEnableSetgroups = attr.UidMappings, true
	// Until the process becomes the namespace's root, it has the host root's id for files, by which it can reach its
	// program and the state folder. That id is not mapped, so the process needs these capabilities.
	attr.AmbientCaps = containerinit.AllRights()
	return nil
}

// startTied starts a process that ends with this one. The kernel ties it to the thread that started it
// (PR_SET_PDEATHSIG), so that thread waits for its end.
func startTied(cmd *exec.Cmd, ended chan<- struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		for _, f := range cmd.ExtraFiles {
			_ = f.Close()
		}
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(ended)
		}
	}()
	return <-started
}

// Stop ends the machine and all processes on it, and returns when they have ended.
func (m *Machine) Stop() {
	m.conn.Close()
	<-m.ended
	m.lose()
	if m.groups != nil {
		_ = m.groups.Close() // the sweeper logs what it cannot remove
	}
}

// Unlimited returns the reason why limits of containers are missing, or "".
func (m *Machine) Unlimited() string {
	if m.groups == nil {
		return cgroup.Explain(m.unlimited)
	}
	return m.groups.Explain()
}

// Limits reports whether containers can have limits.
func (m *Machine) Limits() bool { return m.groups != nil }

// Status returns how the machine ended. It may be called after that.
func (m *Machine) Status() string { return m.cmd.ProcessState.String() }

// Ended is closed when the machine has ended.
func (m *Machine) Ended() <-chan struct{} { return m.ended }

// news handles the messages that no request caused: ends of nodes, and the machine's report that it is ready.
func (m *Machine) news(r wire.Reply) {
	if r.Exited != "" {
		m.exited(r.Exited, end{r.Status, r.Code, false})
		return
	}
	m.begun.Do(func() { close(m.ready) })
}

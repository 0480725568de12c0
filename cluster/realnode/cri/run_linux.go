package cri

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/inside"
)

// run is a container's first process.
type run struct {
	cmd      *exec.Cmd
	first    *os.File // stands for the process, whatever becomes of its number
	stdin    io.WriteCloser
	terminal *os.File // nil without one
	attached *attached
	output   sync.WaitGroup // what copies its output
	log      *logFile
	ended    chan struct{} // closed once all of it has ended and been noted
}

// namespaces are those that a container has of its own.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// idRange is the number of ids in a node's user namespace.
const idRange = 1 << 16

// start starts a container and returns once its program runs, or why it does not.
func (r *Runtime) start(c *container) (*run, error) {
	if err := c.log.open(); err != nil {
		return nil, fmt.Errorf("open the container's log: %w", err)
	}
	p := &run{log: c.log, attached: newAttached(), ended: make(chan struct{})}
	files, err := newFiles(c.config.GetTty(), c.config.GetStdin())
	if err != nil {
		return nil, err
	}
	defer files.closeTheirs()
	p.cmd = r.command(c, files)
	pidFD := -1
	p.cmd.SysProcAttr.PidFD = &pidFD
	var network *os.File
	if c.sandbox.network != nil {
		network = c.sandbox.network.Namespace
	}
	if err := r.starter.start(p.cmd, network); err != nil {
		files.closeOurs()
		return nil, fmt.Errorf("start the container: %w", err)
	}
	files.closeTheirs()
	p.first = os.NewFile(uintptr(pidFD), "first process")
	if err := p.begin(files, c.spec); err != nil {
		p.signal(syscall.SIGKILL)
		_ = p.cmd.Wait()
		_ = p.first.Close()
		files.closeOurs()
		c.log.close()
		return nil, err
	}
	return p, nil
}

func (r *Runtime) command(c *container, f *files) *exec.Cmd {
	cmd := exec.Command(r.options.Inside)
	cmd.Args = []string{"slipway-container", inside.PartContainer}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = "/"
	cmd.ExtraFiles = f.extra()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f.stdin[0], f.stdout[1], f.stderr[1]
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL, Setsid: true, GidMappingsEnableSetgroups: r.options.IDs,
	}
	a := cmd.SysProcAttr
	if r.options.IDs {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: idRange}}
		a.GidMappings = a.UidMappings
		return cmd
	}
	// There is one id, which the container sees as the one that it is to have. Where that is not root's, rights have to be handed on.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: c.spec.UID, HostID: 0, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: c.spec.GID, HostID: 0, Size: 1}}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		a.AmbientCaps = append(a.AmbientCaps, c)
	}
	return cmd
}

// begin describes the container to the process and waits until it has become the container's program.
func (p *run) begin(f *files, spec inside.Container) error {
	go func() {
		_ = json.NewEncoder(f.description[1]).Encode(spec) // if it does not read, it says why
		_ = f.description[1].Close()
	}()
	if f.terminal[0] != nil {
		terminal, err := receiveTerminal(f.terminal[0])
		if err == nil {
			p.terminal = terminal
		}
	}
	failure, err := io.ReadAll(f.status[0])
	_ = f.status[0].Close()
	switch {
	case err != nil:
		return fmt.Errorf("start the container: %w", err)
	case len(failure) > 0:
		return errors.New(string(failure))
	}
	p.copyOutput(f)
	return nil
}

func (p *run) copyOutput(f *files) {
	if p.terminal != nil {
		p.stdin = p.terminal
		p.output.Go(func() { p.log.copy("stdout", p.terminal, p.attached) })
		_, _ = f.stdout[0].Close(), f.stderr[0].Close()
		return
	}
	if f.stdin[1] != nil {
		p.stdin = f.stdin[1]
	}
	for stream, from := range map[string]*os.File{"stdout": f.stdout[0], "stderr": f.stderr[0]} {
		p.output.Go(func() {
			p.log.copy(stream, from, p.attached)
			_ = from.Close()
		})
	}
}

// wait returns how the process ended, once all of its output is in the log.
func (p *run) wait() syscall.WaitStatus {
	_ = p.cmd.Wait()
	p.output.Wait()
	p.log.close()
	p.attached.close()
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	return p.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

func (p *run) signal(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s) // it may just have ended
}

package isolated

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// spawner starts containers' first processes by a small process. They still become children of this one (CLONE_PARENT).
type spawner struct {
	program *os.File // slipway-container
	thread  starterThread

	mu      sync.Mutex
	client  *fdpass.Client // nil until ready starts the process
	process *child
}

// start starts a container's first process with the files that it inherits. The error is [fdpass.ErrGone] if the
// spawner's process was killed. The next call starts another.
func (s *spawner) start(what wire.Spawn, files []*os.File) (*child, error) {
	client, err := s.ready()
	if err != nil {
		return nil, err
	}
	c, err := s.thread.children.begin(func() (int, error) { return client.Spawn(context.Background(), what, descriptors(files)...) })
	if errors.Is(err, fdpass.ErrGone) {
		s.forget(client)
	}
	return c, err
}

// descriptors must be called just before their use: during a wait a file can be closed, and its number reused.
func descriptors(files []*os.File) (all []int) {
	for _, f := range files {
		all = append(all, int(f.Fd()))
	}
	return all
}

// ready returns the client of the spawner's process, and starts the process if there is none.
func (s *spawner) ready() (*fdpass.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	sockets, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket: %w", err)
	}
	theirs := os.NewFile(uintptr(sockets[1]), "socket")
	defer theirs.Close()
	cmd := s.command(theirs)
	process, err := s.thread.start(cmd)
	if err != nil {
		_ = unix.Close(sockets[0])
		return nil, fmt.Errorf("start what starts containers: %w", err)
	}
	client := fdpass.NewClient(sockets[0], nil)
	s.client, s.process = client, process
	go func() {
		_ = s.thread.wait(cmd, process) // it was killed; if this process ends first, nothing needs it
		s.forget(client)
	}()
	return client, nil
}

func (s *spawner) command(theirs *os.File) *exec.Cmd {
	cmd := exec.Command(wire.PathProgram)
	cmd.Args = []string{"slipway-container", wire.PartSpawn}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{s.program, theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	return cmd
}

func (s *spawner) forget(client *fdpass.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == client {
		s.client = nil
	}
	client.Close()
}

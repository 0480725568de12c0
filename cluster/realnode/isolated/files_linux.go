package isolated

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// files are the pipes between this process and a container's first one. Each pair has its read end first.
type files struct {
	description, status   [2]*os.File
	stdin, stdout, stderr [2]*os.File
	terminal              [2]*os.File // a socket pair, whose first end is ours; nil without a terminal
	null                  *os.File    // replaces unwanted streams
}

func newFiles(terminal, stdin bool) (f *files, err error) {
	f = &files{}
	defer func() {
		if err != nil {
			f.closeOurs()
			f.closeTheirs()
		}
	}()
	pipes := []*[2]*os.File{&f.description, &f.status, &f.stdout, &f.stderr}
	if stdin && !terminal {
		pipes = append(pipes, &f.stdin)
	}
	for _, p := range pipes {
		if p[0], p[1], err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
	}
	if f.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return nil, err
	}
	if f.stdin[0] == nil {
		f.stdin[0] = f.null
	}
	if terminal {
		f.terminal, err = socketPair()
	}
	return f, err
}

func socketPair() (pair [2]*os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return pair, fmt.Errorf("make a socket: %w", err)
	}
	return [2]*os.File{os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket")}, nil
}

// inherited returns the files that the process inherits besides its program, in the order of package wire.
func (f *files) inherited() []*os.File {
	terminal := f.null
	if f.terminal[1] != nil {
		terminal = f.terminal[1]
	}
	return []*os.File{f.stdin[0], f.stdout[1], f.stderr[1], f.description[0], terminal, f.status[1]}
}

// closeTheirs closes the process's ends, which the process has inherited.
func (f *files) closeTheirs() {
	closeFiles(f.description[0], f.status[1], f.stdin[0], f.stdout[1], f.stderr[1], f.terminal[1], f.null)
}

func (f *files) closeOurs() {
	closeFiles(f.status[0], f.stdin[1], f.stdout[0], f.stderr[0], f.terminal[0], f.description[1])
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // an error of a second Close is ignored
		}
	}
}

var errNoTerminal = errors.New("the process has no terminal")

// receiveTerminal receives the runtime's end of a process's terminal. It fails if the process cannot make one.
func receiveTerminal(from *os.File) (*os.File, error) {
	defer from.Close()
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(from.Fd()), make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		return nil, fmt.Errorf("receive a terminal: %w", err)
	}
	if len(messages) == 0 {
		return nil, errNoTerminal
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, fmt.Errorf("receive a terminal: %w", err)
	}
	if len(fds) == 0 {
		return nil, errNoTerminal
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fds[0]), "terminal"), nil
}

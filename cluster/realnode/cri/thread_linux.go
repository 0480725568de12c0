package cri

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// thread starts all processes of containers, from one thread: the kernel ends a process that is tied to its parent with the thread that
// started it, and a process begins in the network of that thread.
type thread struct {
	work     chan func()
	children *children
}

func newThread() thread {
	t := thread{make(chan func()), newChildren()}
	go func() {
		runtime.LockOSThread()
		for f := range t.work {
			f()
		}
	}()
	return t
}

// start starts a process in a network namespace; nil is the node's.
func (t thread) start(cmd *exec.Cmd, network *os.File) error {
	return t.within(network, func() error { return t.children.start(cmd) })
}

// wait waits for the end of one that was started.
func (t thread) wait(cmd *exec.Cmd) error { return t.children.wait(cmd) }

// within calls f, which must not wait for anything, in a network namespace; nil is the node's.
func (t thread) within(network *os.File, f func() error) error {
	result := make(chan error)
	t.work <- func() { result <- in(network, f) }
	return <-result
}

func in(network *os.File, f func() error) error {
	if network == nil {
		return f()
	}
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer own.Close()
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the pod's network: %w", err)
	}
	defer func() {
		if err := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); err != nil {
			panic(fmt.Sprintf("leave a pod's network: %v", err)) // all later containers would be in it
		}
	}()
	return f()
}

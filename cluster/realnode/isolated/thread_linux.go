package isolated

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// starterThread starts processes from one thread that never ends. The kernel kills a process with PR_SET_PDEATHSIG when
// the thread that started it ends. That holds for the spawner's processes too, which have the same parent.
type starterThread struct {
	work     chan func()
	children *children
}

func newThread() starterThread {
	t := starterThread{make(chan func()), newChildren()}
	go func() {
		runtime.LockOSThread()
		for f := range t.work {
			f()
		}
	}()
	return t
}

func (t starterThread) start(cmd *exec.Cmd) (*child, error) {
	return t.children.begin(func() (int, error) {
		err := t.within(nil, cmd.Start)
		if err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
}

func (t starterThread) wait(cmd *exec.Cmd, c *child) error {
	defer t.children.ended(c)
	return cmd.Wait()
}

// within calls f on the thread in a network namespace; nil means the node's. f must not block.
func (t starterThread) within(network *os.File, f func() error) error {
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
			panic(fmt.Sprintf("leave a pod's network: %v", err)) // all later containers would start in it
		}
	}()
	return f()
}

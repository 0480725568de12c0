// Package keeper runs a container's process on plain nodes. A keeper is the program slipway-container in its part
// [Part], started by a node. It replaces a pid namespace: the container's processes end with their first one, and all
// end with the node.
//
//	cmd := exec.Command(program, keeper.Part)
//	cmd.Stdin, cmd.Stdout, cmd.Stderr = …        // those of the process
//	cmd.ExtraFiles = []*os.File{orders, status, presence}
//
// From orders the keeper reads a [Process], as JSON in one line, and then numbers of signals to send, one on each line.
// The end of orders means that the node is gone or wants the container to end. To status the keeper writes why the
// process could not start; it closes status once the process runs. The keeper exits with the process's status, or with
// 128 plus the signal that ended it. It holds presence open while it lives, so that others see when all keepers have
// ended.
//
// The process leads its own session, and its process group ends with it. On Linux its descendants outside the group end
// too: the keeper becomes their parent when their own has ended.
package keeper

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Part is the first argument of slipway-container.
const Part = "keep"

// The files that a keeper inherits besides the standard three.
const (
	fileOrders   = 3
	fileStatus   = 4
	filePresence = 5
)

// statusFailed is the exit status if the process could not start. Added to a signal's number it is the status of a
// process that the signal ended.
const statusFailed = 128

// Process describes the process to run.
type Process struct {
	Program   string   // path of the file
	Args, Env []string // Args[0] is the process's name
	Dir       string
	Terminal  bool // the standard streams are a terminal, which becomes the controlling one
}

// Main runs a process and returns the exit status.
func Main() int {
	runtime.LockOSThread()                                                                                   // Pdeathsig takes effect when the thread that forked ends
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE) // the keeper must outlive its process
	syscall.CloseOnExec(fileOrders)
	syscall.CloseOnExec(fileStatus)
	syscall.CloseOnExec(filePresence)
	orders, status := bufio.NewReader(os.NewFile(fileOrders, "orders")), os.NewFile(fileStatus, "status")
	k := &keeper{}
	if err := k.begin(orders); err != nil {
		_, _ = fmt.Fprint(status, err) // the node may have ended
		return statusFailed
	}
	_ = status.Close()
	go k.forwardSignals(orders)
	return k.wait()
}

type keeper struct {
	pid int

	mu    sync.Mutex
	ended bool // after that the pid may be another process's
}

func (k *keeper) begin(orders *bufio.Reader) error {
	line, err := orders.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	var p Process
	if err := json.Unmarshal(line, &p); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	if err := becomeSubreaper(); err != nil {
		return err
	}
	attr := &syscall.ProcAttr{Dir: p.Dir, Env: p.Env, Files: []uintptr{0, 1, 2}, Sys: killWithParent()}
	attr.Sys.Setsid, attr.Sys.Setctty = true, p.Terminal
	if k.pid, err = run(p, attr); err != nil {
		return &os.PathError{Op: "run", Path: p.Args[0], Err: err}
	}
	return nil
}

const (
	// busyLimit bounds the wait while the program file is open for writing (ETXTBSY). Between fork and exec a process
	// of the node briefly holds all its files open, including one that was just written.
	busyLimit = 2 * time.Second
	busyPause = 5 * time.Millisecond
)

func run(p Process, attr *syscall.ProcAttr) (pid int, err error) {
	for end := time.Now().Add(busyLimit); ; time.Sleep(busyPause) {
		pid, err = syscall.ForkExec(p.Program, p.Args, attr)
		if !errors.Is(err, syscall.ETXTBSY) || time.Now().After(end) {
			return pid, err
		}
	}
}

// forwardSignals sends the ordered signals. When orders ends, it kills the process and its group.
func (k *keeper) forwardSignals(orders *bufio.Reader) {
	for {
		line, err := orders.ReadString('\n')
		if err != nil {
			k.signal(syscall.SIGKILL)
			return
		}
		if number, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			k.signal(syscall.Signal(number))
		}
	}
}

// signal sends a signal to the process. SIGKILL goes to its group too.
func (k *keeper) signal(s syscall.Signal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return
	}
	if s == syscall.SIGKILL {
		_ = syscall.Kill(-k.pid, s)
	}
	_ = syscall.Kill(k.pid, s)
}

// wait waits for the process, kills its descendants, and returns its exit status.
func (k *keeper) wait() int {
	var status syscall.WaitStatus
	for pid := 0; pid != k.pid; {
		var err error
		// Other pids are orphaned descendants.
		if pid, err = syscall.Wait4(-1, &status, 0, nil); err != nil && err != syscall.EINTR {
			return statusFailed // no children: impossible before the process has ended
		}
	}
	k.mu.Lock()
	k.ended = true
	_ = syscall.Kill(-k.pid, syscall.SIGKILL)
	k.mu.Unlock()
	killChildren()
	if status.Signaled() {
		return statusFailed + int(status.Signal())
	}
	return status.ExitStatus()
}

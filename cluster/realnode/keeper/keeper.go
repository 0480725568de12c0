// Package keeper stands by a process of a container that is a plain process of this machine: it is the program
// slipway-container in its part [Part], started by a node, and does for such a process what a pid namespace does for
// others. Nothing of it outlives the process, and nothing the node, however that ends.
//
//	cmd := exec.Command(program, keeper.Part)
//	cmd.Stdin, cmd.Stdout, cmd.Stderr = …        // those of the process
//	cmd.ExtraFiles = []*os.File{orders, status, presence}
//
// It reads from orders a [Process], as JSON in one line, and after it signals to send, as numbers in lines of their
// own. When that file ends, the node is gone, or wants everything to end. To status it writes why the process could not
// be begun, and closes it once it has. Its exit status is that of the process, or 128 and the signal that ended it. The
// file presence it holds as long as it lives, so that others see when all keepers have ended.
//
// The process leads a session of its own, and with it ends its process group. On Linux all that it has begun ends, also
// what has left the group: it becomes the keeper's child when it has no parent any more.
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

// Part is the program's first argument.
const Part = "keep"

// The files that it inherits besides the usual three.
const (
	fileOrders   = 3
	fileStatus   = 4
	filePresence = 5
)

// statusFailed is the exit status of a keeper whose process could not be begun, and what is added to the number of a
// signal.
const statusFailed = 128

// Process is what to run.
type Process struct {
	Program   string   // its path
	Args, Env []string // Args[0] is its name
	Dir       string
	Terminal  bool // its streams are a terminal, which it is to control
}

// Main keeps a process and returns its exit status.
func Main() int {
	runtime.LockOSThread()                                                                                   // on Linux the process ends with the thread that has begun it
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE) // it ends with its process, not before
	syscall.CloseOnExec(fileOrders)
	syscall.CloseOnExec(fileStatus)
	syscall.CloseOnExec(filePresence)
	orders, status := bufio.NewReader(os.NewFile(fileOrders, "orders")), os.NewFile(fileStatus, "status")
	k := &keeper{}
	if err := k.begin(orders); err != nil {
		_, _ = fmt.Fprint(status, err) // the node may be gone
		return statusFailed
	}
	_ = status.Close()
	go k.obey(orders)
	return k.wait()
}

// keeper keeps one process.
type keeper struct {
	pid int

	mu    sync.Mutex
	ended bool // its number may be another's
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
	if err := adopt(); err != nil {
		return err
	}
	attr := &syscall.ProcAttr{Dir: p.Dir, Env: p.Env, Files: []uintptr{0, 1, 2}, Sys: tied()}
	attr.Sys.Setsid, attr.Sys.Setctty = true, p.Terminal
	if k.pid, err = run(p, attr); err != nil {
		return &os.PathError{Op: "run", Path: p.Args[0], Err: err}
	}
	return nil
}

const (
	// busyLimit bounds the wait for a program that is being written. Between fork and exec, which takes moments, a
	// process of the node has all its files open, also one that was just written and closed.
	busyLimit = 2 * time.Second
	busyPause = 5 * time.Millisecond
)

// run starts the process once no other process has its program open to write.
func run(p Process, attr *syscall.ProcAttr) (pid int, err error) {
	for end := time.Now().Add(busyLimit); ; time.Sleep(busyPause) {
		pid, err = syscall.ForkExec(p.Program, p.Args, attr)
		if !errors.Is(err, syscall.ETXTBSY) || time.Now().After(end) {
			return pid, err
		}
	}
}

// obey sends the signals that are ordered.
func (k *keeper) obey(orders *bufio.Reader) {
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

// signal sends a signal to the process; one that cannot be refused is for its group.
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

// wait waits for the process, ends what it leaves behind, and returns its exit status.
func (k *keeper) wait() int {
	var status syscall.WaitStatus
	for pid := 0; pid != k.pid; {
		var err error
		// Others than the process are what it left behind.
		if pid, err = syscall.Wait4(-1, &status, 0, nil); err != nil && err != syscall.EINTR {
			return statusFailed // it has no children, which cannot be
		}
	}
	k.mu.Lock()
	k.ended = true
	_ = syscall.Kill(-k.pid, syscall.SIGKILL)
	k.mu.Unlock()
	sweep()
	if status.Signaled() {
		return statusFailed + int(status.Signal())
	}
	return status.ExitStatus()
}

package isolated

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// children are the processes that this one has started for containers and waits for.
//
// The node's process is the first of its namespace, so that it is also given those whose parent has been killed: what
// is left of a command whose way into the container was. Nobody waits for them, and as long as nobody does they count
// among the container's, which cannot end before them.
type children struct {
	mu  sync.Mutex
	own map[int]*child
}

// child is one of them.
type child struct{ pid int }

func newChildren() *children {
	c := &children{own: map[int]*child{}}
	if os.Getpid() == 1 {
		ended := make(chan os.Signal, 1) // what comes while it is full has been seen when the one in it is
		signal.Notify(ended, unix.SIGCHLD)
		go func() {
			for range ended {
				c.buryOrphans()
			}
		}()
	}
	return c
}

// begin begins one, which nobody else waits for until its end is told to [children.ended].
func (c *children) begin(start func() (pid int, err error)) (*child, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := start()
	if err != nil {
		return nil, err
	}
	c.own[pid] = &child{pid}
	return c.own[pid], nil
}

// ended is told once a child has been waited for.
func (c *children) ended(was *child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own[was.pid] == was { // and not the next one of that number
		delete(c.own, was.pid)
	}
}

// buryOrphans waits for those that have ended and that nobody else waits for.
func (c *children) buryOrphans() {
	if !anyEnded() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it is gone
		}
		if p := parseState(text); p.orphaned(os.Getpid()) && c.own[p.pid] == nil {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}

// anyEnded says whether a child has ended that was not waited for yet.
func anyEnded() bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil && info.Signo != 0
}

// state is what the kernel says of a process.
type state struct {
	pid, parent, session int
	letter               string
}

// orphaned says whether a process has ended which this one, the first of its namespace, may have been given. What it
// starts by itself for other ends than containers, such as mounts, stays in its session.
func (s state) orphaned(self int) bool {
	return s.letter == "Z" && s.parent == self && s.session != self
}

// parseState reads a process's stat, in which the name, in parentheses, may be anything.
func parseState(stat []byte) (s state) {
	pid, _, _ := bytes.Cut(stat, []byte(" "))
	s.pid, _ = strconv.Atoi(string(pid))
	var group int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &s.letter, &s.parent, &group, &s.session); err != nil {
		return state{}
	}
	return s
}

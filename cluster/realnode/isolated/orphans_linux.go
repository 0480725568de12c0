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

// children are the processes that this one started for containers and waits for.
//
// As the first process of its pid namespace the node also becomes the parent of orphans, such as the rest of a killed
// exec in a container. Until the node waits for an orphan, the orphan stays in the container's pid namespace, whose end
// is delayed.
type children struct {
	mu  sync.Mutex
	own map[int]*child
}

type child struct{ pid int }

func newChildren() *children {
	c := &children{own: map[int]*child{}}
	if os.Getpid() == 1 {
		ended := make(chan os.Signal, 1) // one buffered signal suffices: buryOrphans sees all ended processes
		signal.Notify(ended, unix.SIGCHLD)
		go func() {
			for range ended {
				c.reapOrphans()
			}
		}()
	}
	return c
}

// begin starts a child. The caller must wait for the child and then call [children.ended].
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

// ended forgets a child that has been waited for.
func (c *children) ended(was *child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own[was.pid] == was { // not a later child with the same pid
		delete(c.own, was.pid)
	}
}

// reapOrphans waits for the ended orphans.
func (c *children) reapOrphans() {
	if !anyEnded() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if p := parseState(text); p.orphaned(os.Getpid()) && c.own[p.pid] == nil {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}

// anyEnded reports whether a child has ended that has not been waited for.
func anyEnded() bool {
	var info unix.Siginfo
	return unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == nil && info.Signo != 0
}

// state has the needed fields of /proc/PID/stat.
type state struct {
	pid, parent, session int
	letter               string
}

// orphaned reports whether an ended process may be an orphan of this one. The node's own processes for other purposes,
// such as mounts, stay in its session.
func (s state) orphaned(self int) bool {
	return s.letter == "Z" && s.parent == self && s.session != self
}

// parseState parses /proc/PID/stat. The name, in parentheses, may contain any character.
func parseState(stat []byte) (s state) {
	pid, _, _ := bytes.Cut(stat, []byte(" "))
	s.pid, _ = strconv.Atoi(string(pid))
	var group int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &s.letter, &s.parent, &group, &s.session); err != nil {
		return state{}
	}
	return s
}

package test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// machineState is what a cluster could leave behind on this machine.
type machineState struct {
	mounts string
	links  []string
}

func stateOfMachine(t testing.TB) machineState {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	s := machineState{mounts: string(mounts)}
	links, err := os.ReadDir("/sys/class/net")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		s.links = append(s.links, l.Name())
	}
	return s
}

// owned is what a cluster's processes have of their own.
type owned struct {
	namespaces map[string]*os.File // by name
	groups     map[string]bool     // folders of cgroups
}

// ownedBy is what these processes have that this one has not. Until it is forgotten the namespaces stay, also without a
// process, and so do their names: of a namespace that is gone the kernel gives the number to the next one that anybody
// makes.
func ownedBy(processes map[int]string) owned {
	o := owned{namespaces: map[string]*os.File{}, groups: map[string]bool{}}
	shared := namespacesOf("/proc/self")
	for pid := range processes {
		proc := filepath.Join("/proc", strconv.Itoa(pid))
		o.keepNamespaces(proc, shared)
		for _, folder := range groupsOf(proc) {
			o.groups[folder] = true
		}
	}
	for _, folder := range groupsOf("/proc/self") {
		delete(o.groups, folder)
	}
	return o
}

// keepNamespaces opens those namespaces of a process that are not shared and not open yet.
func (o owned) keepNamespaces(proc string, shared []string) {
	entries, _ := os.ReadDir(filepath.Join(proc, "ns")) // it may have ended
	for _, e := range entries {
		f, err := os.Open(filepath.Join(proc, "ns", e.Name()))
		if err != nil {
			continue
		}
		// The open one is asked for its name: before it was opened, the process may have changed to another.
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		if err != nil || slices.Contains(shared, name) || o.namespaces[name] != nil {
			_ = f.Close()
			continue
		}
		o.namespaces[name] = f
	}
}

// forget lets the namespaces go.
func (o owned) forget() {
	for _, f := range o.namespaces {
		_ = f.Close()
	}
}

// groupsOf are the folders of a process's cgroups, in all hierarchies.
func groupsOf(proc string) (folders []string) {
	text, _ := os.ReadFile(filepath.Join(proc, "cgroup")) // it may have ended
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for _, hierarchy := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
			found, _ := filepath.Glob(hierarchy + parts[len(parts)-1])
			folders = append(folders, found...)
		}
	}
	return folders
}

// nothingLeft waits until no process of the cluster in dir is there, nor any in a namespace that it had, nor its
// cgroups, and compares the machine with what it was before. What the cluster had is forgotten then.
func nothingLeft(t testing.TB, dir string, had owned, before machineState) {
	t.Helper()
	defer had.forget()
	var left []string
	defer func() {
		if len(left) > 0 {
			t.Logf("what is left: %v", left)
		}
	}()
	eventually(t, "all processes and cgroups of the cluster are gone", func(context.Context) (bool, error) {
		left = leftProcesses(dir, had.namespaces)
		for folder := range had.groups {
			if _, err := os.Stat(folder); err == nil {
				left = append(left, folder)
			}
		}
		return len(left) == 0, nil
	})
	after := stateOfMachine(t)
	for line := range strings.Lines(after.mounts) {
		if strings.Contains(line, dir) || !strings.Contains(before.mounts, line) && strings.Contains(line, "nsfs") {
			t.Errorf("a mount is left: %s", line)
		}
	}
	for _, l := range after.links {
		if !slices.Contains(before.links, l) {
			t.Errorf("the link %s is left", l)
		}
	}
}

// partGone waits until no process is left in a namespace that a part of a cluster had, nor any of its cgroups. What it
// had is forgotten then.
func partGone(t testing.TB, had owned) {
	t.Helper()
	defer had.forget()
	eventually(t, "the processes and cgroups of the part are gone", func(context.Context) (bool, error) {
		left := 0
		for _, pid := range allProcesses() {
			left += len(shares(filepath.Join("/proc", strconv.Itoa(pid)), had.namespaces))
		}
		for folder := range had.groups {
			if _, err := os.Stat(folder); err == nil {
				left++
			}
		}
		return left == 0, nil
	})
}

// leftProcesses are those that know of the cluster's folder, by an argument or a mount, or that are in one of the
// namespaces.
func leftProcesses(dir string, namespaces map[string]*os.File) (left []string) {
	for _, pid := range allProcesses() {
		proc := filepath.Join("/proc", strconv.Itoa(pid))
		ties := append(mentions(proc, dir), shares(proc, namespaces)...)
		if pid == os.Getpid() || len(ties) == 0 {
			continue
		}
		arguments, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		left = append(left, fmt.Sprintf("%d %q, by %v", pid, arguments, ties))
	}
	return left
}

// mentions are the files about a process that name something in a folder.
func mentions(proc, dir string) (files []string) {
	for _, file := range []string{"cmdline", "mountinfo"} {
		if text, err := os.ReadFile(filepath.Join(proc, file)); err == nil && bytes.Contains(text, []byte(dir+"/")) {
			files = append(files, file)
		}
	}
	return files
}

// shares are those of the namespaces that a process is in.
func shares(proc string, namespaces map[string]*os.File) (shared []string) {
	for _, n := range namespacesOf(proc) {
		if namespaces[n] != nil {
			shared = append(shared, n)
		}
	}
	return shared
}

func namespacesOf(proc string) (all []string) {
	entries, _ := os.ReadDir(filepath.Join(proc, "ns")) // it may have ended
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(proc, "ns", e.Name())); err == nil {
			all = append(all, to)
		}
	}
	return all
}

func allProcesses() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// usage is what a cluster that goes on could have ever more of.
type usage map[string]int

// usageOf counts what a cluster's processes and nodes have.
func (c *realCluster) usageOf() usage {
	c.t.Helper()
	all := c.processes()
	u := usage{"processes": len(all), "files of the cluster": openFiles(c.cmd.Process.Pid)}
	node := c.findNode()
	u["files of the node"] = openFiles(node)
	proc := filepath.Join("/proc", strconv.Itoa(node))
	for what, file := range map[string]string{"links": "net/dev", "routes": "net/route", "mounts": "mountinfo"} {
		text, err := os.ReadFile(filepath.Join(proc, file))
		if err != nil {
			c.t.Fatal(err)
		}
		u[what] = bytes.Count(text, []byte("\n"))
	}
	return u
}

// foldersOf counts what is in a node's folders. The kubelet removes what is left of containers once a minute.
func (c *realCluster) foldersOf() usage {
	c.t.Helper()
	u := usage{}
	for _, folder := range []string{"lib/slipway/containers/sandboxes/*", "lib/slipway/containers/containers/*", "lib/kubelet/pods/*", "log/pods/*"} {
		found, err := filepath.Glob(filepath.Join(c.config.Dir, "nodes", "node-1", folder))
		if err != nil {
			c.t.Fatal(err)
		}
		u[folder] = len(found)
	}
	return u
}

func openFiles(pid int) int {
	entries, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	return len(entries)
}

// settlesTo waits until nothing is there more often than before, give or take the files that connections are.
func (c *realCluster) settlesTo(before usage, now func() usage) {
	c.t.Helper()
	const connections = 12
	for tick, late := time.Tick(20*time.Millisecond), time.After(testlimit.Hang); ; {
		more := now()
		maps.DeleteFunc(more, func(what string, n int) bool {
			return n <= before[what] || strings.HasPrefix(what, "files") && n <= before[what]+connections
		})
		if len(more) == 0 {
			return
		}
		select {
		case <-tick:
		case <-late:
			c.t.Fatalf("more than before: %v, before: %v", more, before)
		}
	}
}

// findNode waits for the process of node-1, which may be about to be started again.
func (c *realCluster) findNode() (pid int) {
	c.t.Helper()
	eventually(c.t, "the node runs", func(context.Context) (bool, error) {
		for p, name := range c.processes() {
			if strings.HasPrefix(name, "slipway-node") {
				pid = p
			}
		}
		return pid != 0, nil
	})
	return pid
}

// signalled says whether a process could be sent a signal: it may just have ended.
func signalled(pid int, s syscall.Signal) bool { return pid > 1 && syscall.Kill(pid, s) == nil }

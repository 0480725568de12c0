package test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// processes are those that belong to a cluster: each has a namespace that its first process has begun, or is one of
// that process's children.
func (c *realCluster) processes() map[int]string {
	c.t.Helper()
	parents, names := map[int]int{}, map[int]string{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		name := stat[bytes.IndexByte(stat, '(')+1 : bytes.LastIndexByte(stat, ')')]
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parents[pid], _ = strconv.Atoi(fields[1])
		names[pid] = string(name) + " " + fields[0]
	}
	found := map[int]string{}
	for pid := range parents {
		for p := parents[pid]; p > 1; p = parents[p] {
			if p == c.cmd.Process.Pid {
				found[pid] = names[pid]
			}
		}
	}
	return found
}

// allEnded waits until none of these processes is there any more.
func allEnded(t testing.TB, processes map[int]string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the processes %v have ended", processes), func(context.Context) (bool, error) {
		for pid := range processes {
			if syscall.Kill(pid, 0) == nil {
				return false, nil
			}
		}
		return true, nil
	})
}

func (c *realCluster) find(name string) int {
	c.t.Helper()
	for pid, n := range c.processes() {
		if strings.HasPrefix(n, name) {
			return pid
		}
	}
	c.t.Fatalf("no process %s among %v", name, c.processes())
	return 0
}

// killProcess ends a process of any user's.
func killProcess(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// testKills: whatever is killed, nothing of it is left, and what is still wanted comes back. With a container goes its
// cgroup, with a node its containers', and with a cluster all.
func testKills(t *testing.T, c *realCluster) {
	c.running("kept")
	c.running("short")
	c.remove("short")
	c.onlyGroupIs("kept")

	// The first process of a container.
	killProcess(t, c.find("pod"))
	c.await("kept", func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount == 1 && ready(p) })
	c.onlyGroupIs("kept")
	if last := c.mainStatus(c.await("kept", ready)).LastTerminationState.Terminated; last.ExitCode != 137 {
		t.Errorf("the end was %+v", last)
	}

	// The node: its pods' processes go with it, and both come back.
	before := c.processes()
	node := c.find("slipway-node")
	delete(before, c.find("slipway-contain"))
	for pid, name := range before {
		if strings.HasPrefix(name, "slipway-sweep") { // which ends with the cluster
			delete(before, pid)
		}
	}
	killProcess(t, node)
	allEnded(t, before)
	eventually(t, "the pod is started again", func(ctx context.Context) (bool, error) {
		p, err := c.client.CoreV1().Pods(c.ns).Get(ctx, "kept", metav1.GetOptions{})
		return err == nil && c.mainStatus(p).RestartCount >= 2 && ready(p), err
	})
	if got := c.exec("kept", "pod", "echo", "hello"); got != "hello\n" {
		t.Errorf("after the node was killed: %q", got)
	}
	c.onlyGroupIs("kept")

	// The cluster's own process.
	groups := c.groupsIfAny()
	before = c.processes()
	if len(before) < 3 {
		t.Errorf("only the processes %v", before)
	}
	killProcess(t, c.cmd.Process.Pid)
	allEnded(t, before)
	if mounts := c.mountsLeft(); len(mounts) > 0 {
		t.Errorf("mounts are left: %q", mounts)
	}
	eventually(t, "all cgroups are gone", func(context.Context) (bool, error) { return len(leftOf(groups)) == 0, nil })
	c.removeAsOwner()
	if links, err := os.ReadDir("/sys/class/net"); err == nil {
		for _, l := range links {
			if strings.HasPrefix(l.Name(), "node") || strings.HasPrefix(l.Name(), "pods") {
				t.Errorf("the link %s is left", l.Name())
			}
		}
	}
}

// removeAsOwner removes what the cluster has left in its folder, as the user who ran it.
func (c *realCluster) removeAsOwner() {
	c.t.Helper()
	remove := exec.Command("rm", "-r", filepath.Join(c.config.Dir, "nodes"))
	remove.SysProcAttr = c.cmd.SysProcAttr
	if out, err := remove.CombinedOutput(); err != nil {
		c.t.Errorf("the nodes' files cannot be removed: %s", out)
	}
}

// mountsLeft are the mounts of this machine that are of the cluster's folder. Others come and go with other programs.
func (c *realCluster) mountsLeft() (left []string) {
	c.t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, c.config.Dir+"/") {
			left = append(left, line)
		}
	}
	return left
}

func isNodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// TestRealMany: a hundred pods at once on two nodes.
func TestRealMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-nodes")
	}
	const pods = 100
	c := startReal(t, nil, twoNodes)
	begin := time.Now()
	for i := range pods {
		c.create(c.pod(fmt.Sprintf("many-%d", i)))
	}
	allReady := func(ctx context.Context) (int, error) {
		list, err := c.client.CoreV1().Pods(c.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, err
		}
		n := 0
		for i := range list.Items {
			if ready(&list.Items[i]) {
				n++
			}
		}
		return n, nil
	}
	eventually(t, "all pods are ready", func(ctx context.Context) (bool, error) {
		n, err := allReady(ctx)
		return n == pods, err
	})
	t.Logf("%d pods are ready after %s", pods, time.Since(begin))
	begin = time.Now()
	if err := c.client.CoreV1().Pods(c.ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all pods are gone", func(ctx context.Context) (bool, error) {
		list, err := c.client.CoreV1().Pods(c.ns).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 0, err
	})
	t.Logf("%d pods are deleted after %s", pods, time.Since(begin))
}

package test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// machineNow is the process that all nodes stand on; 0 while there is none.
func (c *realCluster) machineNow() int {
	c.t.Helper()
	for pid := range c.processes() {
		arguments, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		if bytes.Contains(arguments, []byte("\x00machine\x00")) {
			return pid
		}
	}
	return 0
}

func (c *realCluster) findMachine() (pid int) {
	c.t.Helper()
	eventually(c.t, "the nodes' machine runs", func(context.Context) (bool, error) {
		pid = c.machineNow()
		return pid != 0, nil
	})
	return pid
}

// steadyMachine is one whose end begins a row of its own.
func (c *realCluster) steadyMachine(*rand.Rand) int {
	const steady = 10 * time.Second
	pass(steady)
	return c.findMachine()
}

// testKillOfMachine: without what its nodes stand on a cluster goes on. The machine and its nodes are started
// again, with pods, Services, ports and the data of claims; nothing is left of those before. A stopped node stays
// stopped.
func testKillOfMachine(t *testing.T, c *realCluster) {
	c.stopNode("node-2")
	set := c.createClaiming("set", 1)
	c.create(c.pod("server"))
	c.create(c.pod("client"))
	service := c.service("server", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}}})
	set.awaitReady()
	set.write()
	c.await("client", ready)
	c.await("server", ready)
	c.eventuallyExec("server", "pod", "get", "http://server/")
	before := c.usageOf()

	had := ownedBy(c.partsOf(c.findMachine()))
	killProcess(t, c.findMachine())
	partGone(t, had)
	for _, name := range []string{"client", "server", "set-0"} {
		c.await(name, func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount >= 1 && ready(p) })
	}
	set.has()
	c.eventuallyExec("server", "pod", "get", "http://server/")
	if got := fetch(t, fmt.Sprintf("http://127.0.0.1:%d/", service.Spec.Ports[0].NodePort)); got != "server" {
		t.Errorf("the port of the node answers %q", got)
	}
	if got, err := c.client.CoreV1().Services(c.ns).ProxyGet("http", "server", "http", "/", nil).DoRaw(t.Context()); err != nil || string(got) != "server" {
		t.Errorf("the API server gets %q through the Service: %v", got, err)
	}
	c.create(c.pod("later"))
	c.await("later", ready)
	if message := c.nodesMessage(); !strings.HasPrefix(message, "1 of 2 real nodes; stopped: node-2") {
		t.Errorf("status says %q", message)
	}
	c.remove("later")
	c.settlesTo(before, c.usageOf)
	had, machine, groups := ownedBy(c.processes()), stateOfMachine(t), c.groupsIfAny()
	c.stop()
	if left := leftOf(groups); len(left) != 0 {
		t.Errorf("a cluster that was stopped left %v", left)
	}
	nothingLeft(t, c.config.Dir, had, machine)
}

// partsOf are a process and all that it has begun.
func (c *realCluster) partsOf(first int) map[int]string {
	c.t.Helper()
	all := c.processes()
	for pid := range all {
		p := pid
		for p > 1 && p != first {
			p = parentOf(p)
		}
		if p != first {
			delete(all, pid)
		}
	}
	return all
}

// nodesMessage is what status says of nodes.
func (c *realCluster) nodesMessage() string {
	c.t.Helper()
	for _, component := range c.status().Components {
		if component.Name == protocol.Nodes {
			return component.Message
		}
	}
	return ""
}

// TestRealKillOfMachineAtItsEnds kills the machine while a node joins, which joins all the same, and while the cluster
// stops, which leaves nothing.
func TestRealKillOfMachineAtItsEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-kills")
	}
	_, random := faults(t)
	c := startJoining(t)
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		pid := 0
		for pid == 0 && t.Context().Err() == nil {
			pid = c.machineNow()
		}
		pass(within(random, time.Second))
		_ = signalled(pid, syscall.SIGKILL)
	}()
	c.load(loaded)
	<-killed
	if n := c.kinds(); n.Real != 1 || n.Problem != "" {
		t.Errorf("the machine was killed while a node joined: %+v", n)
	}
	c.create(c.pod("real", "serve"))
	c.await("real", ready)

	had, before := ownedBy(c.processes()), stateOfMachine(t)
	pid := c.findMachine()
	_ = c.w.Close()
	pass(within(random, 200*time.Millisecond))
	_ = signalled(pid, syscall.SIGKILL)
	if code := c.waitExit(); code != 0 {
		t.Errorf("a stop during which the machine was killed ends with %d", code)
	}
	nothingLeft(t, c.config.Dir, had, before)
}

package test

import (
	"context"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// testCommandsEnd: of commands in a container nothing is left, also of those that are broken off or whose way into
// the container is killed; else the container could not end.
func testCommandsEnd(t *testing.T, c *realCluster) {
	c.createCrowd("kept", 1)
	c.awaitCrowd("kept", 1)
	before := c.usageOf()

	c.openStreams()
	var enter int
	eventually(t, "the command runs", func(context.Context) (bool, error) {
		enter = c.wayIn()
		return enter != 0, nil
	})
	_ = signalled(enter, syscall.SIGKILL)
	c.closeStreams()
	c.settlesTo(before, c.usageOf)
	c.remove("kept-0")

	p := c.pod("probed")
	p.Spec.Containers[0].LivenessProbe = &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"pod", "spin"}}},
		TimeoutSeconds: 1, PeriodSeconds: 1, FailureThreshold: 1,
	}
	c.create(p)
	c.await("probed", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount > 0
	})
	c.remove("probed")
	before["processes"]-- // that of the pod
	c.settlesTo(before, c.usageOf)
}

// wayIn is the process through which a command was started that runs in a container; 0 while there is none.
func (c *realCluster) wayIn() int {
	c.t.Helper()
	all, node := c.processes(), c.findNode()
	for pid := range all {
		if parent := parentOf(pid); strings.HasPrefix(all[pid], "pod ") && parent != node {
			return parentOf(parent)
		}
	}
	return 0
}

package test

import (
	"context"
	"strings"
	"syscall"
	"testing"
)

// TestRealCommandsEnd: of commands in a container nothing is left, also if the way into the container is killed by which they were started.
func TestRealCommandsEnd(t *testing.T) {
	asUsers(t, func(t *testing.T, c *realCluster) {
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
	})
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

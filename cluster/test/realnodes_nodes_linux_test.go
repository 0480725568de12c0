package test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// item is a part of [TestRealNodes].
type item struct {
	name string
	run  func(*testing.T, *realCluster)
}

var (
	// ofAllUsers is what pods do as on any node, also where an ordinary user runs the cluster. [TestRealNodesPage]
	// knows which line of the page the items of all three lists show. Those that take long come first.
	ofAllUsers = []item{
		{"restarts", testRestarts}, {"hooks and grace", testGrace}, {"claims", testClaims}, {"resize", testResize}, {"limits", testLimits},
		{"network", testNetwork}, {"image again", testImageAgain}, {"probes", testProbes}, {"images", testImages}, {"volumes", testVolumes},
		{"jobs", testJobs}, {"init containers", testInitContainers}, {"shared memory", testSharedMemory}, {"logs", testLogs}, {"exec", testExec},
		{"isolation", testIsolation}, {"owners", testOwners}, {"attach", testAttach}, {"debug", testDebug}, {"port-forward", testPortForward},
		{"capacity", testCapacity}, {"refusals", testRefusals}, {"identity", testIdentity},
	}
	// everyday is what users do with the pods of any cluster, whoever runs it.
	everyday = []item{
		{"metrics", testMetrics}, {"rollout", testRollout}, {"drain", testDrain}, {"host ports", testHostPorts}, {"priorities", testPriorities},
		{"quota", testQuota}, {"sidecars", testSidecars}, {"termination messages", testTerminationMessages}, {"cron job", testCronJob},
		{"volumes of all kinds", testVolumesOfAllKinds}, {"one pod a claim", testOnePodAClaim}, {"retained", testRetained},
		{"foreign volumes", testForeignVolumes}, {"host service", testHostService},
		{"refused", testRefused}, {"refused controllers", testRefusedControllers}, {"refused capability", testRefusedCapability},
		{"debug with a target", testDebugTarget}, {"host network", testHostNetwork}, {"privileged", testPrivileged}, {"SELinux", testSELinux},
		{"not listening", testNotListening}, {"aggregated API", testAggregated}, {"logical cluster", testLogicalBesideReal},
	}
	// alone is what counts all that a cluster has, or ends parts of it, in this order.
	alone = []item{
		{"machine", testKillOfMachine}, {"next start", testNextStart}, {"commands end", testCommandsEnd}, {"reset", testRealReset}, {"kills", testKills},
	}
)

// TestRealNodes goes through all three lists on one cluster with two real nodes. The second one is small and for pods
// that ask for it, which one of them drains.
func TestRealNodes(t *testing.T) {
	t.Parallel()
	open := serveOnHost(t, "the host")
	asUsers(t, func(t *testing.T, how func(*exec.Cmd)) {
		t.Parallel()
		c := startReal(t, how, smallSecond, func(c *protocol.Config) { c.HostPorts = []int{open} })
		items := ofAllUsers
		if how == nil {
			items = slices.Concat(everyday, ofAllUsers)
		}
		t.Run("together", func(t *testing.T) {
			for _, item := range items {
				t.Run(item.name, func(t *testing.T) {
					t.Parallel() // each has a namespace of its own, and mostly waits for the kubelet
					item.run(t, c.in(t))
				})
			}
		})
		c.dial().resetTo("")
		for _, item := range alone {
			c.part(t, item.name, item.run)
		}
	})
}

// testNextStart: a throw-away cluster that starts again has no volumes of the last time. It has one node from here on.
func testNextStart(t *testing.T, c *realCluster) {
	c.config.Nodes = c.config.Nodes[:1]
	c.startAgain()
	eventually(t, "the volumes of the last time are gone", func(context.Context) (bool, error) {
		left, err := os.ReadDir(filepath.Join(c.config.Dir, "nodes", ".volumes"))
		return len(left) == 0, ignoreMissing(err)
	})
}

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
	// ofUsers is what depends on who runs the cluster: on rights, IDs, cgroups and networks. [TestRealNodesPage] knows
	// which line of the page the items of all lists show. Those that take long come first.
	ofUsers = []item{
		{"restarts", testRestarts}, {"claims", testClaims}, {"resize", testResize}, {"limits", testLimits}, {"network", testNetwork},
		{"images", testImages}, {"volumes", testVolumes}, {"shared memory", testSharedMemory}, {"isolation", testIsolation},
		{"owners", testOwners}, {"capacity", testCapacity}, {"identity", testIdentity},
	}
	// ofPods is what pods do as on any node.
	ofPods = []item{
		{"hooks and grace", testGrace}, {"image again", testImageAgain}, {"probes", testProbes}, {"jobs", testJobs},
		{"init containers", testInitContainers}, {"logs", testLogs}, {"exec", testExec}, {"attach", testAttach}, {"debug", testDebug},
		{"port-forward", testPortForward}, {"refusals", testRefusals},
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

// TestRealNodes goes through all lists on one cluster with two real nodes. The second one is small and for pods
// that ask for it, which one of them drains.
func TestRealNodes(t *testing.T) {
	t.Parallel()
	open := serveOnHost(t, "the host")
	asUsers(t, func(t *testing.T, how func(*exec.Cmd)) {
		t.Parallel()
		c := startReal(t, how, smallSecond, func(c *protocol.Config) { c.HostPorts = []int{open} })
		items := slices.Concat(ofUsers, ofPods)
		if how == nil {
			items = slices.Concat(everyday, items)
		} else if testing.Short() {
			items = ofUsers // long: make test-long-nodes has the others for an ordinary user, too
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

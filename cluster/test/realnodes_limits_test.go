package test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// groups are the cluster's own cgroups: those that what is to remove them was told when it started. Any other cluster's
// may be beside them.
func (c *realCluster) groups() []string {
	c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", c.find("slipway-sweep")))
	if err != nil {
		c.t.Fatal(err)
	}
	program, groups, _ := strings.Cut(strings.TrimSuffix(string(text), "\x00"), "\x00sweep\x00")
	if groups == "" {
		c.t.Fatalf("%s removes no cgroups", program)
	}
	return strings.Split(groups, "\x00")
}

// groupsIfAny is groups where a cluster may be unable to limit containers.
func (c *realCluster) groupsIfAny() []string {
	c.t.Helper()
	if c.noLimits() != "" {
		return nil
	}
	return c.groups()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// leftOf are those of a cluster's cgroups that are there.
func leftOf(groups []string) []string {
	return slices.DeleteFunc(slices.Clone(groups), func(path string) bool { return !isFolder(path) })
}

// noLimits is why a cluster cannot limit containers; it is empty if it can.
func (c *realCluster) noLimits() string {
	c.t.Helper()
	for _, told := range c.status().Components {
		if at := strings.Index(told.Message, "containers have no limits"); told.Name == protocol.Nodes && at >= 0 {
			return told.Message[at:]
		}
	}
	return ""
}

func (c *realCluster) status() (s protocol.Status) {
	c.t.Helper()
	requests := c.dial()
	requests.call("status", protocol.Empty{}, &s)
	_ = requests.w.Close()
	return s
}

// limited is a pod with limits.
func (c *realCluster) limited(name string, limits corev1.ResourceList, args ...string) *corev1.Pod {
	p := c.pod(name, args...)
	p.Spec.Containers[0].Resources.Limits = limits
	return p
}

// TestRealLimitsByDelegation: an ordinary user who was given cgroups can limit containers.
func TestRealLimitsByDelegation(t *testing.T) {
	t.Parallel()
	c := startReal(t, inDelegated(t))
	testLimits(t, c)
	if why := c.noLimits(); why != "" {
		t.Error(why)
	}
}

// testLimits: a container that wants more memory than it may have is ended and its pod says why, and so it is with a
// command in it; CPU and processes are limited; what containers use is measured. Where the machine allows no limits,
// the cluster says so and measures nevertheless.
func testLimits(t *testing.T, c *realCluster) {
	limits := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceCPU: resource.MustParse("200m")}
	good := c.limited("good", limits)
	good.Spec.NodeName = "node-1"
	c.create(good)
	c.await("good", ready)
	t.Run("measured", func(t *testing.T) { testMeasured(t, c) })
	if why := c.noLimits(); why != "" {
		t.Skip(why)
	}
	t.Run("out of memory", func(t *testing.T) { testOutOfMemory(t, c, limits) })
	t.Run("throttled", func(t *testing.T) { testThrottled(t, c) })
	t.Run("seen inside", func(t *testing.T) { testSeenInside(t, c) })
	t.Run("processes", func(t *testing.T) {
		if got := c.groupFile("good", "pids", "pids.max"); got != "4096" {
			t.Errorf("it may have %s processes", got)
		}
	})
}

func testOutOfMemory(t *testing.T, c *realCluster, limits corev1.ResourceList) {
	p := c.limited("greedy", limits, "allocate", "200")
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	c.create(p)
	p = c.await("greedy", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if end := c.mainStatus(p).State.Terminated; end == nil || end.Reason != "OOMKilled" || end.ExitCode != 137 {
		t.Errorf("it ended as %+v", end)
	}
	// One that has enough is as it was, whatever a neighbour does.
	enough := c.limited("enough", limits, "allocate", "20")
	enough.Spec.RestartPolicy = corev1.RestartPolicyNever
	c.create(enough)
	c.await("enough", succeeded)
	// A command in a container is under its limits.
	if out, _, err := c.try("good", nil, false, "pod", "allocate", "200"); err == nil {
		t.Errorf("a command had more memory than its container: %s", out)
	}
	// Where the kernel ended all of the container with it, that is there again.
	eventually(t, "the container answers", func(context.Context) (bool, error) { return c.answers("good"), nil })
}

// testSeenInside: a program finds its limits where it finds them in any container, and so does a command.
func testSeenInside(t *testing.T, c *realCluster) {
	var found string
	for _, file := range []string{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"} {
		if text, _, err := c.try("good", nil, false, "pod", "cat", file); err == nil {
			found = strings.TrimSpace(text)
		}
	}
	if found != strconv.Itoa(64<<20) {
		t.Errorf("the limit of memory is %q; mounted are\n%s", found, c.exec("good", "pod", "cat", "/proc/self/mountinfo"))
	}
	for _, of := range []string{"1", "self"} {
		if got := c.exec("good", "pod", "cat", "/proc/"+of+"/cgroup"); strings.Contains(got, "slipway-") {
			t.Errorf("process %s sees the host's cgroups: %s", of, got)
		}
	}
}

// testThrottled: a container that never rests gets no more CPU time than its limit.
func testThrottled(t *testing.T, c *realCluster) {
	c.create(c.limited("busy", corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}, "spin"))
	c.await("busy", ready)
	eventually(t, "the container is throttled", func(context.Context) (bool, error) {
		for line := range strings.Lines(c.groupFile("busy", "cpu", "cpu.stat")) {
			if count, ok := strings.CutPrefix(line, "nr_throttled "); ok {
				n, err := strconv.Atoi(strings.TrimSpace(count))
				return n > 0, err
			}
		}
		return false, nil
	})
	c.remove("busy")
}

// groupFile reads a file of the cgroup of a pod's container.
func (c *realCluster) groupFile(pod, controller, file string) string {
	c.t.Helper()
	var found string
	eventually(c.t, pod+" has a file "+file, func(context.Context) (bool, error) { // which a container that starts again has anew
		id := strings.TrimPrefix(c.mainStatus(c.await(pod, ready)).ContainerID, "slipway://")
		for _, path := range c.groups() {
			text, err := os.ReadFile(filepath.Join(path, id, file))
			if err == nil && (strings.Contains(path, controller) || file != "cgroup.procs") {
				found = strings.TrimSpace(string(text))
				return true, nil
			}
		}
		return false, nil
	})
	return found
}

// statsOfPod is what a kubelet's summary has of a pod.
type statsOfPod struct {
	PodRef struct{ Name, Namespace string }
	Memory struct{ WorkingSetBytes int64 }
}

// testMeasured: the kubelet tells what its node and its pods use.
func testMeasured(t *testing.T, c *realCluster) {
	var text []byte
	defer func() {
		if t.Failed() {
			t.Logf("%s", text)
		}
	}()
	eventually(t, "the pod is measured", func(ctx context.Context) (_ bool, err error) {
		text, err = c.client.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/node-1/proxy/metrics/resource").DoRaw(ctx)
		if err != nil {
			return false, err
		}
		return metric(string(text), "container_memory_working_set_bytes", `pod="good"`) > 1<<20 &&
			metric(string(text), "container_cpu_usage_seconds_total", `pod="good"`) >= 0 && // where it is counted in hundredths of a second, it may be none
			metric(string(text), "pod_memory_working_set_bytes", `pod="good"`) > 1<<20 &&
			metric(string(text), "node_memory_working_set_bytes", "") > 1<<20 && metric(string(text), "node_cpu_usage_seconds_total", "") > 0 &&
			metric(string(text), "resource_scrape_error", "") == 0, nil
	})
	var summary struct {
		Node struct{ CPU, Memory map[string]any }
		Pods []statsOfPod
	}
	var err error
	text, err = c.client.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/node-1/proxy/stats/summary").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = json.Unmarshal(text, &summary)
	at := slices.IndexFunc(summary.Pods, func(p statsOfPod) bool { return p.PodRef.Name == "good" && p.PodRef.Namespace == c.ns })
	if err != nil || at < 0 || summary.Pods[at].Memory.WorkingSetBytes < 1<<20 || summary.Node.CPU["usageNanoCores"] == nil {
		t.Errorf("%v: %s", err, text)
	}
}

// metric finds a value among those that are exposed for Prometheus.
func metric(text, name, labels string) float64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok && strings.Contains(line, labels) && (rest[0] == '{' || rest[0] == ' ') {
			_, value, _ := strings.Cut(rest, "} ")
			if rest[0] == ' ' {
				value = rest[1:]
			}
			v, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return v
		}
	}
	return -1
}

// onlyGroupIs waits until a pod's container has a cgroup and no other has, where containers have any.
func (c *realCluster) onlyGroupIs(pod string) {
	c.t.Helper()
	groups := c.groupsIfAny()
	eventually(c.t, "the container of "+pod+" alone has a cgroup", func(context.Context) (bool, error) {
		id := strings.TrimPrefix(c.mainStatus(c.await(pod, ready)).ContainerID, "slipway://")
		for _, path := range groups {
			entries, err := os.ReadDir(path)
			if err != nil {
				return false, err
			}
			for _, e := range entries {
				if e.IsDir() && e.Name() != id {
					return false, nil
				}
			}
			if !isFolder(filepath.Join(path, id)) {
				return false, nil
			}
		}
		return true, nil
	})
}

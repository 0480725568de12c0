package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

var answeredConns = regexp.MustCompile(`answered (\d+)`)

// vanishes has a pod make connections to a port that never sends nor ends, and removes it.
func (c *realCluster) vanishes(o outside, n int) {
	c.t.Helper()
	sockets := socketsOf(c.cmd.Process.Pid)
	c.create(c.pod("vanished", "flood", o.ip.String()+":9", strconv.Itoa(n), "quiet"))
	eventually(c.t, "the cluster has connections to a silent server", func(context.Context) (bool, error) {
		return socketsOf(c.cmd.Process.Pid) >= sockets+2*n, nil
	})
	c.removeWith("vanished", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
}

// floods creates a pod that makes so many connections to the outside and keeps those that it gets. It returns how many
// of those that send are answered.
func (c *realCluster) floods(name string, o outside, n int) (answered int) {
	c.t.Helper()
	p := c.pod(name, "flood", o.ip.String()+":7", strconv.Itoa(n))
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	c.create(p)
	eventually(c.t, "the pod has its connections", func(context.Context) (bool, error) {
		text, _ := c.tryLog(name, corev1.PodLogOptions{})
		found := answeredConns.FindStringSubmatch(text)
		if found != nil {
			answered, _ = strconv.Atoi(found[1])
		}
		return found != nil, nil
	})
	return answered
}

// awaitOpen waits until the other machine has a number of connections that is right.
func (o outside) awaitOpen(t *testing.T, right func(n int) bool) (n int) {
	t.Helper()
	eventually(t, "the connections of the other machine are as many as they should be", func(context.Context) (bool, error) {
		n = int(o.open.Load())
		return right(n), nil
	})
	return n
}

func none(n int) bool { return n == 0 }

// residentOf is the memory that a process has now, in KiB.
func residentOf(t *testing.T, pid int) (kibibytes int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kibibytes); err != nil {
		t.Fatal(err)
	}
	return kibibytes
}

// socketsOf counts those that a process has.
func socketsOf(pid int) (n int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// usageOfEgress is usageOf with the cluster's sockets instead of all its files. Among those are pipes through which the
// standard library moves data: it keeps them for the next connections, until memory has been collected twice.
func (c *realCluster) usageOfEgress() usage {
	c.t.Helper()
	u := c.usageOf()
	delete(u, "files of the cluster")
	u["files of the cluster that are sockets"] = socketsOf(c.cmd.Process.Pid)
	return u
}

// testVanished: connections of a pod that is gone end although the other side neither sends nor ends. Keepalive takes
// less than three minutes to find that.
func testVanished(t *testing.T, c *realCluster, sockets int) {
	const some = 12 // which settlesTo allows
	begin := time.Now()
	for tick, late := time.Tick(100*time.Millisecond), time.After(testlimit.Hang); socketsOf(c.cmd.Process.Pid) > sockets+some; {
		select {
		case <-tick:
		case <-late:
			t.Fatalf("the cluster has %d sockets, before the pod %d", socketsOf(c.cmd.Process.Pid), sockets)
		}
	}
	t.Logf("the connections to a silent server end %s after the pod", time.Since(begin).Round(time.Second))
}

// testFlood: a pod that wants two thousand connections gets its share. Other pods, names, Services, logs and the API
// server answer meanwhile, and all is given back with the pod.
func testFlood(t *testing.T, c *realCluster, o outside, before usage) {
	// Most is the share of a pod, and files are those of a busy connection.
	const wanted, most, files = 2000, 512, 6
	first, memory := openFiles(c.cmd.Process.Pid), residentOf(t, c.cmd.Process.Pid)
	start := time.Now()
	answered := c.floods("flood", o, wanted)
	t.Logf("the pod knows after %s", time.Since(start).Round(time.Millisecond))
	open := o.awaitOpen(t, func(n int) bool { return 0 < n && n <= most })
	during, memoryDuring := openFiles(c.cmd.Process.Pid), residentOf(t, c.cmd.Process.Pid)
	t.Logf("%d of %d connections, %d answered; files of the cluster %d, before %d; memory %d KiB, before %d KiB",
		open, wanted, answered, during, first, memoryDuring, memory)
	if more := during - first; answered == 0 || more > files*most {
		t.Errorf("%d are answered, and %d files open", answered, more)
	}
	began := time.Now()
	for _, address := range []string{"http://" + o.ip.String() + "/", "http://outside.example/"} {
		if answer := c.exec("client", "pod", "get", address); answer != "outside" {
			t.Errorf("%s answers another pod %q", address, answer)
		}
	}
	c.eventuallyExec("server", "pod", "get", "http://server:8080/")
	if answer := c.exec("client", "pod", "api", "/version"); !strings.Contains(answer, "gitVersion") {
		t.Errorf("the API server answers %q", answer)
	}
	if text := c.log("server", corev1.PodLogOptions{}); !strings.Contains(text, "serving") {
		t.Errorf("the log of another pod is %q", text)
	}
	t.Logf("the others answer within %s", time.Since(began).Round(time.Millisecond))
	c.removeWith("flood", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	removed := time.Now()
	o.awaitOpen(t, none)
	c.settlesTo(before, c.usageOfEgress)
	t.Logf("all is given back after %s", time.Since(removed).Round(time.Millisecond))
}

// testMachineAgain: connections end with the machine that the nodes stand on, and the next one leads pods out, too.
// They also end with the cluster.
func testMachineAgain(t *testing.T, c *realCluster, o outside) {
	const some = 6
	all := func(n int) bool { return n == some }
	c.floods("kept", o, some)
	o.awaitOpen(t, all)
	killProcess(t, c.findMachine())
	o.awaitOpen(t, none)
	c.await("client", func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount >= 1 && ready(p) })
	c.eventuallyExec("outside", "pod", "get", "http://"+o.ip.String()+"/")
	c.eventuallyExec("outside", "pod", "get", "http://outside.example/")
	if n := c.floods("last", o, some); n != some/2 {
		t.Errorf("%d are answered", n)
	}
	o.awaitOpen(t, all)
	c.stop()
	o.awaitOpen(t, none)
}

// TestRealEgressFlood: with --egress a pod takes nothing from others however many connections it makes, and
// connections end with what they stand on.
func TestRealEgressFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-nodes")
	}
	o := newOutside(t)
	c := startRealWith(t, nil, []func(*exec.Cmd){askOnly(t, nameServer(t, o))}, withEgress)
	for _, name := range []string{"client", "server"} {
		c.create(c.pod(name))
	}
	c.service("server", corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 8080, TargetPort: intstr.FromInt32(8080)}}})
	c.await("client", ready)
	c.await("server", ready)
	before := c.usageOfEgress()
	t.Run("flood", func(t *testing.T) { testFlood(t, c, o, before) })
	c.vanishes(o, 50)
	t.Run("vanished", func(t *testing.T) { testVanished(t, c, before["files of the cluster that are sockets"]) })
	t.Run("machine", func(t *testing.T) { testMachineAgain(t, c, o) })
}

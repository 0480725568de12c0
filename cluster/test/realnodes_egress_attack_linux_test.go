package test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/network"
)

// throughProxy names an address that counts connections as the proxy of a program.
func throughProxy(t *testing.T, taken *atomic.Int32) func(*exec.Cmd) {
	t.Helper()
	address := "http://" + newListener(t, "127.0.0.1:0", taken)
	return func(cmd *exec.Cmd) {
		cmd.Env = append(os.Environ(), "HTTP_PROXY="+address, "HTTPS_PROXY="+address, "http_proxy="+address, "https_proxy="+address)
	}
}

// createRight creates pods with all rights that a pod can have: one in a network of its own, one in its node's.
func (c *realCluster) createRight() (names []string) {
	c.t.Helper()
	for _, name := range []string{"root-on-node", "root"} {
		p := c.pod(name, "graceful")
		secured(corev1.SecurityContext{Privileged: new(true), RunAsUser: new(int64(0))})(&p.Spec)
		p.Spec.HostNetwork = name == "root-on-node"
		c.create(p)
		c.await(name, ready)
		names = append(names, name)
	}
	return names
}

// testAttacks: whatever a pod sends, only connections over TCP that the cluster's process makes arrive elsewhere, if
// any do.
func testAttacks(t *testing.T, c *realCluster, o outside, usual func(packet) bool) {
	for _, name := range c.createRight() {
		out := c.exec(name, "pod", "attack", o.ip.String(), o.own.String())
		if !strings.Contains(out, "udp "+o.ip.String()+": <nil>") || !strings.Contains(out, "source route") {
			t.Errorf("%s sends nothing: %s", name, out)
		}
		if left := o.others(t, usual); len(left) > 0 {
			t.Errorf("%s: packets that arrived: %v, after\n%s", name, left, out)
		}
		c.removeWith(name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	}
	for _, command := range [][]string{{"udp", o.ip.String() + ":7", "a"}, {"get", "http://[2001:db8::1]/"}} {
		if got, _, err := c.try("client", nil, false, append([]string{"pod"}, command...)...); err == nil {
			t.Errorf("%v: %q", command, got)
		}
	}
	if left := o.others(t, usual); len(left) > 0 {
		t.Errorf("packets that arrived: %v", left)
	}
}

// testEnds: the end of one direction is passed on, and what breaks off does not look complete.
func testEnds(t *testing.T, c *realCluster, o outside) {
	if got := c.exec("client", "pod", "halfclose", o.ip.String()+":7", "word"); got != "word" {
		t.Errorf("after the end of what is sent comes %q", got)
	}
	got, stderr, err := c.try("client", nil, false, "pod", "cutoff", o.ip.String()+":80", "/broken")
	if err == nil || !strings.Contains(got, "half") || strings.Contains(got, "complete") || !strings.Contains(stderr, "reset") {
		t.Errorf("a download that breaks off: %q %q", got, stderr)
	}
}

// testNoEgress: by default nothing that pods send leaves this machine.
func testNoEgress(t *testing.T, c *realCluster, o outside) {
	c.running("client")
	for _, at := range []string{o.ip.String() + "/", o.own.String() + "/", "outside.example/", network.Host.String() + ":1/"} {
		if got, _, err := c.try("client", nil, false, "pod", "get", "http://"+at); err == nil {
			t.Errorf("%s answers %q", at, got)
		}
	}
	testAttacks(t, c, o, func(packet) bool { return false })
	if c.kinds().Egress {
		t.Error("the status says that it is on")
	}
}

// testRate reports how long a download takes a pod, beside a program of this machine.
func testRate(t *testing.T, c *realCluster, o outside) {
	const size = 100 << 20
	url := fmt.Sprintf("http://%s/bytes/%d", o.ip, size)
	begin := time.Now()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if n, err := io.Copy(io.Discard, r.Body); n != size {
		t.Fatalf("%d bytes: %v", n, err)
	}
	direct := time.Since(begin)
	var n, nanoseconds int64
	if _, err := fmt.Sscan(c.exec("client", "pod", "download", url), &n, &nanoseconds); err != nil || n != size {
		t.Fatalf("a pod gets %d bytes of %d: %v", n, size, err)
	}
	led := time.Duration(nanoseconds)
	t.Logf("%d MiB take a pod %s, a program of this machine %s: %.2f times as long", size>>20, led.Round(time.Millisecond), direct.Round(time.Millisecond), float64(led)/float64(direct))
}

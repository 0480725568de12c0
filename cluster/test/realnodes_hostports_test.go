package test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// testHostPorts: a pod's host port is one of this machine's loopback, for as long as the pod is there. One that
// is not available is reported, and served once it can.
func testHostPorts(t *testing.T, c *realCluster) {
	free, taken := listenAnywhere(t), listenAnywhere(t)
	port, later := portNumber(free), portNumber(taken)
	_ = free.Close()
	p := c.pod("server")
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{
		{HostPort: port, ContainerPort: 8080}, {HostPort: later, ContainerPort: 8080}, {HostPort: 9, ContainerPort: 9090, Protocol: corev1.ProtocolUDP},
	}
	c.create(p)
	c.await("server", ready)
	c.awaitFetch(port, "server")
	c.awaitEvent("server", "HostPortNotServed", "another program of this machine")
	c.awaitEvent("server", "HostPortNotServed", "only TCP is")
	_ = taken.Close()
	c.awaitFetch(later, "server")
	testNodePortTaken(t, c)

	second := c.pod("second") // which the scheduler has no node for
	second.Spec.Containers[0].Ports = p.Spec.Containers[0].Ports[:1]
	c.create(second)
	c.await("second", func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0 && strings.Contains(p.Status.Conditions[0].Message, "free ports")
	})
	c.remove("server")
	c.await("second", ready)
	c.awaitFetch(port, "second")
	c.remove("second")
	eventually(t, "the port is closed", func(context.Context) (bool, error) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil, nil
	})
}

// testNodePortTaken: a NodePort that another program has is reported on its Service, and served once it is free.
func testNodePortTaken(t *testing.T, c *realCluster) {
	taken := listenBetween(t, 31000, 32000)
	c.service("occupied", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{
		{Port: 80, NodePort: portNumber(taken), TargetPort: intstr.FromInt32(8080)},
	}})
	c.awaitEvent("occupied", "NodePortNotServed", "another program of this machine, or another cluster, uses it")
	_ = taken.Close()
	c.awaitFetch(portNumber(taken), "server")
}

// listenBetween listens to the first of some ports that is free.
func listenBetween(t *testing.T, first, last int) net.Listener {
	t.Helper()
	for port := first; port < last; port++ {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			t.Cleanup(func() { _ = l.Close() })
			return l
		}
	}
	t.Fatal("no port is free")
	return nil
}

func listenAnywhere(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func portNumber(l net.Listener) int32 { return int32(l.Addr().(*net.TCPAddr).Port) }

// awaitFetch waits until a port of this machine answers as is wanted: a pod is ready before its port is open.
func (c *realCluster) awaitFetch(port int32, want string) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("port %d answers %q", port, want), func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", port), http.NoBody)
		if err != nil {
			return false, err
		}
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil
		}
		defer response.Body.Close()
		got, _ := io.ReadAll(response.Body)
		return string(got) == want, nil
	})
}

package hostports

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// fixture is a server whose pods a test changes. They have addresses of this machine.
type fixture struct {
	*Server
	t       *testing.T
	pods    cache.Indexer
	refused []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	informer := informers.NewSharedInformerFactory(nil, 0).Core().V1().Pods().Informer()
	f := &fixture{t: t, pods: informer.GetIndexer()}
	s, err := New([]cache.SharedIndexInformer{informer}, Options{
		Dial: (&net.Dialer{}).DialContext, Refused: func(_ *corev1.Pod, why string) { f.refused = append(f.refused, why) }, Trouble: func(error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Server = s
	t.Cleanup(func() { s.close(context.Background()) })
	return f
}

// set has the pod listen at an address, where it says a name.
func (f *fixture) set(name, ip string, hostPorts ...int) {
	f.t.Helper()
	l, err := net.Listen("tcp4", net.JoinHostPort(ip, "0"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = l.Close() })
	go connlimit.Connections(l, func(conn net.Conn) {
		_, _ = io.WriteString(conn, name)
		_ = conn.Close()
	}, nil)
	var ports []corev1.ContainerPort
	for _, p := range hostPorts {
		ports = append(ports, corev1.ContainerPort{HostPort: int32(p), ContainerPort: int32(l.Addr().(*net.TCPAddr).Port)})
	}
	pod := running("pod", 0, ports...)
	pod.Status.PodIP = ip
	if err := f.pods.Update(pod); err != nil {
		f.t.Fatal(err)
	}
}

// says is what a port of this machine answers.
func (f *fixture) says(port int) string {
	f.t.Helper()
	conn, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET): // before the connection is in use
		return "reset"
	case err != nil:
		f.t.Fatal(err)
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	if err != nil {
		return "reset"
	}
	return string(text)
}

func (f *fixture) expect(port int, want string) {
	f.t.Helper()
	if got := f.says(port); got != want {
		f.t.Errorf("port %d answers %q, want %q", port, got, want)
	}
}

// TestHostPort leads to its pod, to the address that the pod has now, and is closed with it.
func TestHostPort(t *testing.T) {
	f, port := newFixture(t), freePort(t)
	f.set("first", "127.0.0.1", port)
	if !f.follow(t.Context()) {
		t.Errorf("not served: %q", f.refused)
	}
	f.expect(port, "first")
	f.set("restarted", "127.0.0.2", port)
	f.follow(t.Context())
	f.expect(port, "restarted")
	for _, object := range f.pods.List() {
		if err := f.pods.Delete(object); err != nil {
			t.Fatal(err)
		}
	}
	f.follow(t.Context())
	f.expect(port, "refused")
	if len(f.refused) > 0 {
		t.Errorf("refused %q", f.refused)
	}
}

// TestTakenHostPort is reported once, and served when it is free.
func TestTakenHostPort(t *testing.T) {
	f := newFixture(t)
	other, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := other.Addr().(*net.TCPAddr).Port
	f.set("pod", "127.0.0.1", port)
	for range 3 {
		if f.follow(t.Context()) {
			t.Error("all are served, though one port is taken")
		}
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if !f.follow(t.Context()) {
		t.Error("a port that is free again is not served")
	}
	f.expect(port, "pod")
	if len(f.refused) != 1 {
		t.Errorf("refused %q", f.refused)
	}
}

// TestUnreachablePod: a connection to a pod that cannot be reached is reset.
func TestUnreachablePod(t *testing.T) {
	f, port := newFixture(t), freePort(t)
	f.options.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, syscall.EHOSTUNREACH }
	f.set("pod", "127.0.0.1", port)
	f.follow(t.Context())
	f.expect(port, "reset")
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

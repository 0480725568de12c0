package realnode

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOutsidersAskSeldom: however often a pod asks, it is looked for once in a while, and what waits is bounded.
func TestOutsidersAskSeldom(t *testing.T) {
	n := &Nodes{options: Options{Log: slog.New(slog.DiscardHandler)}, life: context.Background()}
	o := n.newOutsiders()
	for range 10 * mostAsked {
		o.note(&net.UDPAddr{IP: net.IPv4(10, 128, 0, 5), Port: 1}, "example.com.")
	}
	if len(o.asked) != mostAsked {
		t.Errorf("%d questions wait", len(o.asked))
	}
	now := time.Now()
	ip := netip.MustParseAddr("10.128.0.5")
	if !o.fresh(ip, now) || o.fresh(ip, now.Add(askAgain-1)) || !o.fresh(ip, now.Add(askAgain)) {
		t.Error("the pod is looked for at the wrong times")
	}
	for i := range 3 * mostRemembered {
		o.fresh(netip.AddrFrom4([4]byte{10, 128, byte(i >> 8), byte(i)}), now)
	}
	if len(o.seen) > mostRemembered {
		t.Errorf("%d addresses are remembered", len(o.seen))
	}
}

// TestNoWayOutEvent: the Event names what was asked for without what a terminal acts on, and is the same for all names,
// so that the API server keeps one for each pod.
func TestNoWayOutEvent(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: strings.Repeat("p", 253), UID: "1"}}
	one := warning(pod, reasonNoWayOut, noWayOutMessage("example.com."), metav1.Now())
	two := warning(pod, reasonNoWayOut, noWayOutMessage("evil\x1b[2J\n.example."), metav1.Now())
	if one.Name != two.Name || len(one.Name) > 253 || one.Namespace != "ns" {
		t.Errorf("the Events are called %s and %s", one.Name, two.Name)
	}
	if !strings.HasPrefix(one.Message, "The name example.com is not found: ") || strings.ContainsAny(two.Message, "\x1b\n") || len(two.Message) > 1024 {
		t.Errorf("%q\n%q", one.Message, two.Message)
	}
}

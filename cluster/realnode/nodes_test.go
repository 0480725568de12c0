package realnode

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
)

// TestIsReady: what a node said before it was started does not count, though the API keeps whole seconds alone.
func TestIsReady(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 900_000_000, time.UTC)
	for name, tt := range map[string]struct {
		kind   corev1.NodeConditionType
		status corev1.ConditionStatus
		at     time.Duration // since the start
		want   bool
	}{
		"ready":              {corev1.NodeReady, corev1.ConditionTrue, time.Second, true},
		"in the same second": {corev1.NodeReady, corev1.ConditionTrue, -900 * time.Millisecond, true},
		"before":             {corev1.NodeReady, corev1.ConditionTrue, -2 * time.Second, false},
		"not ready":          {corev1.NodeReady, corev1.ConditionFalse, time.Second, false},
		"lost":               {corev1.NodeReady, corev1.ConditionUnknown, time.Second, false},
		"something else":     {corev1.NodeDiskPressure, corev1.ConditionTrue, time.Second, false},
	} {
		n := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: tt.kind, Status: tt.status, LastHeartbeatTime: metav1.NewTime(since.Add(tt.at))},
		}}}
		if isReady(n, since) != tt.want {
			t.Errorf("%s: want %v", name, tt.want)
		}
	}
	if isReady(&corev1.Node{}, since) {
		t.Error("a node that has said nothing is ready")
	}
}

// TestTaints: a taint takes the place of one of its key and effect, and a node that is Ready loses those that it has
// before. What was given stays as it is.
func TestTaints(t *testing.T) {
	given := []corev1.Taint{
		{Key: "a", Value: "old", Effect: corev1.TaintEffectNoSchedule}, {Key: "a", Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, {Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
	}
	before := slices.Clone(given)
	text := func(all []corev1.Taint) string {
		var parts []string
		for _, taint := range all {
			parts = append(parts, taint.Key+"="+taint.Value+":"+string(taint.Effect))
		}
		return strings.Join(parts, " ")
	}
	with := withTaint(given, corev1.Taint{Key: "a", Value: "new", Effect: corev1.TaintEffectNoSchedule})
	if got := text(withoutNotReady(with)); got != "a=:NoExecute a=new:NoSchedule" {
		t.Errorf("%s", got)
	}
	if !slices.Equal(given, before) {
		t.Errorf("given are now %s", text(given))
	}
}

// TestWays: nodes reach the API server and, where there is one, the cluster's registry.
func TestWays(t *testing.T) {
	w := Options{Server: "127.0.0.1:6443", Reach: Reach{Registries: []string{"reg.example.com"}}}.ways()
	if !slices.Equal(w.Own, []string{"127.0.0.1:6443"}) || !slices.Equal(w.Named, []string{"reg.example.com"}) {
		t.Errorf("%+v", w)
	}
	if w := (Options{Reach: Reach{Mirrors: map[string]string{"quay.io": "10.0.0.1:5000/quay"}}}).ways(); !slices.Equal(w.Named, []string{"10.0.0.1:5000"}) {
		t.Errorf("with a mirror: %+v", w)
	}
	if w := (Options{Server: "127.0.0.1:6443", Reach: Reach{Registry: "127.0.0.1:5000"}}).ways(); !slices.Equal(w.Own, []string{"127.0.0.1:6443", "127.0.0.1:5000"}) {
		t.Errorf("%+v", w)
	}
}

func TestNameServiceAt(t *testing.T) {
	s := nameServiceAt("10.0.0.10")
	if s.Spec.ClusterIP != "10.0.0.10" || s.Name != nameService || len(s.Spec.Ports) != 2 {
		t.Errorf("%+v", s)
	}
	for i, protocol := range []corev1.Protocol{corev1.ProtocolUDP, corev1.ProtocolTCP} {
		if p := s.Spec.Ports[i]; p.Protocol != protocol || p.Port != namePort || p.TargetPort.IntValue() != namePort {
			t.Errorf("%+v", p)
		}
	}
}

// TestNodesByName: nodes are listed in order, those without a process as lost, and others are not known.
func TestNodesByName(t *testing.T) {
	n := &Nodes{options: Options{Machine: &machine.Plain{}}, members: map[string]*member{"b": {process: &machine.Node{}}, "a": {}}, addresses: []netip.Prefix{netip.MustParsePrefix("10.128.1.0/24")}}
	if got := n.Names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("names %q", got)
	}
	if got := n.Lost(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("lost %q", got)
	}
	for _, err := range []error{n.StopNode("x"), n.StartNode(t.Context(), "x")} {
		if !errors.Is(err, node.ErrUnknown) || !strings.Contains(err.Error(), "the nodes are a, b") {
			t.Errorf("%v", err)
		}
	}
	if err := (&Nodes{}).StopNode("x"); !errors.Is(err, node.ErrUnknown) || !strings.Contains(err.Error(), "no nodes") {
		t.Errorf("without nodes: %v", err)
	}
	if err := n.StartNode(t.Context(), "b"); err != nil {
		t.Errorf("one that runs: %v", err)
	}
	for ip, want := range map[string]bool{"10.128.1.7": true, "10.128.2.7": false} {
		if n.real(netip.MustParseAddr(ip)) != want {
			t.Errorf("%s: want %v", ip, want)
		}
	}
}

// TestRunRefuses what cannot be nodes, before anything is asked of anybody.
func TestRunRefuses(t *testing.T) {
	if _, err := Run(t.Context(), Options{Specs: []node.Spec{{Name: "A B"}}}); !errors.Is(err, node.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

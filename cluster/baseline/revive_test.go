package baseline_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/baseline"
	"github.com/slipway-dev/slipway/cluster/etcd"
)

const realLabel = "example.com/real"

// message is the form of what is stored.
type message interface{ Marshal() ([]byte, error) }

func stored(t *testing.T, key, kind string, m message) etcd.Pair {
	t.Helper()
	raw, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: raw}
	value, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return etcd.Pair{Key: []byte(prefix + key), Value: append([]byte("k8s\x00"), value...)}
}

func node(t *testing.T, name string, labels map[string]string) etcd.Pair {
	return stored(t, "/minions/"+name, "Node", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "n", Labels: labels}})
}

// pod is on the node that runs pods, and runs; change makes it another one.
func pod(t *testing.T, change func(*corev1.Pod)) etcd.Pair {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p", UID: "1"}, Spec: corev1.PodSpec{NodeName: "real"},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable,
			Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	change(p)
	return stored(t, "/pods/n/p", "Pod", p)
}

func read(t *testing.T, p etcd.Pair) *corev1.Pod {
	t.Helper()
	var unknown runtime.Unknown
	var object corev1.Pod
	if err := unknown.Unmarshal(bytes.TrimPrefix(p.Value, []byte("k8s\x00"))); err != nil {
		t.Fatal(err)
	}
	if err := object.Unmarshal(unknown.Raw); err != nil {
		t.Fatal(err)
	}
	return &object
}

func TestRevive(t *testing.T) {
	asItWas := func(*corev1.Pod) {}
	restarted := func(p *corev1.Pod) { p.Status.Message = "restarted" }
	for name, c := range map[string]struct {
		then, now func(*corev1.Pod) // nil: the pod is gone
		unchanged bool              // there is nothing to do
		noNode    bool              // the Node has been deleted since
		anew      bool              // another pod takes its place
		phase     corev1.PodPhase
	}{
		"the same":            {then: asItWas, now: asItWas, unchanged: true},
		"another status":      {then: asItWas, now: restarted, unchanged: true},
		"another label":       {then: asItWas, now: func(p *corev1.Pod) { restarted(p); p.Labels = map[string]string{"a": "b"} }, phase: corev1.PodRunning},
		"gone":                {then: asItWas, anew: true, phase: corev1.PodPending},
		"gone with its node":  {then: asItWas, noNode: true, anew: true, phase: corev1.PodPending},
		"made anew":           {then: asItWas, now: func(p *corev1.Pod) { p.UID = "2" }, anew: true, phase: corev1.PodPending},
		"going":               {then: asItWas, now: func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, anew: true, phase: corev1.PodPending},
		"failed":              {then: asItWas, now: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, anew: true, phase: corev1.PodPending},
		"gone after it ended": {then: func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, anew: true, phase: corev1.PodSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := []etcd.Pair{node(t, "real", map[string]string{realLabel: ""}), node(t, "simulated", nil)}
			now := state(nodes...)
			if c.noNode {
				now = state(nodes[1])
			}
			if c.now != nil {
				now.Pairs = append(now.Pairs, pod(t, c.now))
			}
			base := baseline.Of(state(append(nodes, pod(t, c.then))...), prefix)
			if err := base.Revive(now, realLabel); err != nil {
				t.Fatal(err)
			}
			change := base.Difference(now)
			if change.Empty() != c.unchanged {
				t.Fatalf("got %+v", change)
			}
			if c.unchanged {
				return
			}
			at := slices.IndexFunc(change.Put, func(p etcd.Pair) bool { return string(p.Key) == prefix+"/pods/n/p" })
			got := read(t, change.Put[at])
			if (got.UID != types.UID("1")) != c.anew || got.Status.Phase != c.phase || got.Status.QOSClass != corev1.PodQOSBurstable || got.Labels != nil {
				t.Errorf("got %+v", got)
			}
			if c.phase == corev1.PodPending && len(got.Status.Conditions) != 1 {
				t.Errorf("got conditions %+v", got.Status.Conditions)
			}
		})
	}
}

// TestReviveLeavesSimulatedPodsAlone: they are what the store says.
func TestReviveLeavesSimulatedPodsAlone(t *testing.T) {
	then := pod(t, func(p *corev1.Pod) { p.Spec.NodeName = "simulated" })
	nodes := []etcd.Pair{node(t, "real", map[string]string{realLabel: ""}), node(t, "simulated", nil)}
	base := baseline.Of(state(append(nodes, then)...), prefix)
	now := state(nodes...)
	if err := base.Revive(now, realLabel); err != nil {
		t.Fatal(err)
	}
	if change := base.Difference(now); len(change.Put) != 1 || !bytes.Equal(change.Put[0].Value, then.Value) {
		t.Errorf("got %+v", change)
	}
}

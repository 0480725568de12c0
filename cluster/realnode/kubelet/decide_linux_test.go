package kubelet

import (
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	kubeletutil "k8s.io/kubernetes/pkg/kubelet/util"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// tracker is told what it is told.
type tracker struct {
	kubeletutil.PodStartupLatencyTracker
	observed, deleted int
}

func (t *tracker) ObservedPodOnWatch(klog.Logger, *corev1.Pod, time.Time) { t.observed++ }
func (t *tracker) DeletePodStartupState(types.UID)                        { t.deleted++ }

// TestDeletionsAreLookedAtOnce: a pod is looked at when it is first seen to be deleted, and again only after it was
// forgotten.
func TestDeletionsAreLookedAtOnce(t *testing.T) {
	var looked []types.UID
	inner := &tracker{}
	d := newDeletions(inner, func(uid types.UID) { looked = append(looked, uid) })
	pod := func(uid types.UID, deleted bool) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}
		if deleted {
			p.DeletionTimestamp = &metav1.Time{}
		}
		return p
	}
	for _, p := range []*corev1.Pod{pod("a", false), pod("a", true), pod("b", false), pod("a", true)} {
		d.ObservedPodOnWatch(klog.Background(), p, time.Now())
	}
	if !slices.Equal(looked, []types.UID{"a"}) {
		t.Errorf("looked at %q", looked)
	}
	d.DeletePodStartupState("a")
	d.ObservedPodOnWatch(klog.Background(), pod("a", true), time.Now())
	if !slices.Equal(looked, []types.UID{"a", "a"}) || inner.observed != 5 || inner.deleted != 1 {
		t.Errorf("looked at %q; the tracker was told %d and %d times", looked, inner.observed, inner.deleted)
	}
}

// TestHardware is the machine's, whatever the node advertises.
func TestHardware(t *testing.T) {
	if h := newHardware(nodeconfig.Config{Name: "n"}, folders{}); h.cpus < 1 || h.memory == 0 || h.kernel == "" {
		t.Errorf("%+v", h)
	}
	c := nodeconfig.Config{Name: "n", Capacity: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("7"), corev1.ResourceMemory: resource.MustParse("3Gi"), corev1.ResourcePods: resource.MustParse("5"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Gi"), "example.com/gpu": resource.MustParse("2"),
	}}
	h := newHardware(c, folders{containers: t.TempDir()})
	info, err := h.MachineInfo(klog.Background())
	if err != nil || info.NumCores != runtime.NumCPU() || info.MemoryCapacity != memory() || info.MachineID != "n" {
		t.Errorf("%+v, %v", info, err)
	}
	advertised := (&node{Config: c}).advertised()
	if gpus := advertised["example.com/gpu"]; len(advertised) != 4 || gpus.Value() != 2 || advertised.Cpu().Value() != 7 || !advertised.Pods().IsZero() {
		t.Errorf("%v", advertised)
	}
	if fs, err := h.RootFsInfo(); err != nil || fs.Capacity == 0 || fs.Capacity < fs.Available {
		t.Errorf("%+v, %v", fs, err)
	}
}

// TestSettings: the kubelet is known by the node's name, listens where its ground says, asks who somebody is, and runs
// as many pods as its capacity says.
func TestSettings(t *testing.T) {
	n := &node{
		Config: nodeconfig.Config{
			Name: "n", DNS: netip.MustParseAddr("10.0.0.10"), Domain: "cluster.local", Taints: []corev1.Taint{{Key: "k"}},
			Capacity: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("5")}, Labels: map[string]string{"a": "b"},
		},
		ground: &platform{folders: plainFolders("/below", ""), listen: "127.0.0.1", port: 1234, cloud: "external"},
		files:  files{authority: "/ca"},
	}
	s, err := n.settings()
	if err != nil {
		t.Fatal(err)
	}
	if s.HostnameOverride != "n" || s.CloudProvider != "external" || s.NodeLabels["a"] != "b" || s.RootDirectory != "/below/k" {
		t.Errorf("flags %+v", s.KubeletFlags)
	}
	if s.Address != "127.0.0.1" || s.Port != 1234 || s.ReadOnlyPort != 0 || s.MaxPods != 5 || s.RegisterWithTaints[0].Key != "k" || s.PodLogsDir != "/below/logs" {
		t.Errorf("%s:%d (%d), %d pods, %v", s.Address, s.Port, s.ReadOnlyPort, s.MaxPods, s.RegisterWithTaints)
	}
	if s.Authentication.Anonymous.Enabled || !s.Authentication.Webhook.Enabled || s.Authentication.X509.ClientCAFile != "/ca" || string(s.Authorization.Mode) != "Webhook" {
		t.Errorf("%+v, %+v", s.Authentication, s.Authorization)
	}
	n.Capacity = nil
	if s, err = n.settings(); err != nil || s.MaxPods != maxPods {
		t.Errorf("%d pods, %v", s.MaxPods, err)
	}
}

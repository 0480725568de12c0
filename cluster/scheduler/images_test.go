package scheduler

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

// some are the images that there are.
type some []string

func (s some) Has(ref string) bool                { return slices.Contains(s, ref) }
func (s some) Follow(_ context.Context, f func()) {}
func nodeWith(name string, labels ...string) fwk.NodeInfo {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for _, l := range labels {
		n.Labels[l] = "true"
	}
	info := framework.NewNodeInfo()
	info.SetNode(n)
	return info
}

var (
	real      = nodeWith("real", node.RealLabel)
	simulated = nodeWith("simulated", node.SimulatedLabel)
	plain     = nodeWith("plain", node.RealLabel, node.PlainLabel)
	foreign   = nodeWith("foreign")
)

// fits lists the nodes that the plugin leaves, and what it says of the others.
func fits(t *testing.T, p *placer, pod *corev1.Pod, nodes ...fwk.NodeInfo) (names []string, words string) {
	t.Helper()
	state := framework.NewCycleState()
	_, status := p.PreFilter(t.Context(), state, pod, nodes)
	if !status.IsSuccess() && !status.IsSkip() {
		t.Fatal(status)
	}
	for _, n := range nodes {
		if !status.IsSkip() {
			if s := p.Filter(t.Context(), state, pod, n); !s.IsSuccess() {
				if s.Code() != fwk.UnschedulableAndUnresolvable {
					t.Errorf("%s: %v", n.Node().Name, s)
				}
				words += s.Message()
				continue
			}
		}
		names = append(names, n.Node().Name)
	}
	return names, words
}

// claimsFor has a claim "ours" with a volume of the cluster's provisioner, and others of NFS.
func claimsFor(_, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	volume := &corev1.PersistentVolume{}
	if name == "ours" {
		volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: preflight.VolumeDriver}
	} else {
		volume.Spec.NFS = &corev1.NFSVolumeSource{}
	}
	return &corev1.PersistentVolumeClaim{}, volume
}

func TestPodsGoByTheirImagesAndWishes(t *testing.T) {
	p := &placer{images: some{"here:v1", "tools:v1"}, claims: claimsFor}
	all := []fwk.NodeInfo{simulated, real, foreign}
	pod := func(images ...string) *corev1.Pod {
		p := &corev1.Pod{}
		for _, image := range images {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Image: image})
		}
		return p
	}
	initial := pod("here:v1")
	initial.Spec.InitContainers = []corev1.Container{{Image: "elsewhere:v1"}}
	volume := pod("here:v1")
	volume.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "data:v1"}}}}
	with := func(source corev1.VolumeSource) *corev1.Pod {
		p := pod("here:v1")
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: source}}
		return p
	}
	claimed := func(name string) *corev1.Pod {
		return with(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
	}
	hostPath := corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var"}}
	daemonOnHost := with(hostPath)
	daemonOnHost.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: new(true)}}
	privileged := pod("here:v1")
	privileged.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	daemon := pod("elsewhere:v1")
	daemon.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: new(true)}}
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		nodes []fwk.NodeInfo
		fit   []string
		words string
	}{
		{"all there", pod("here:v1", "tools:v1"), all, []string{"real", "foreign"}, "so it runs on a real node"},
		{"one missing", pod("here:v1", "elsewhere:v1"), all, []string{"simulated", "foreign"}, "image elsewhere:v1 is not in the cluster"},
		{"an init container's missing", initial, all, []string{"simulated", "foreign"}, "image elsewhere:v1"},
		{"a volume's missing", volume, all, []string{"simulated", "foreign"}, "image data:v1"},
		{"a DaemonSet's", daemon, all, []string{"simulated", "real", "foreign"}, ""},
		{"missing, all nodes real", pod("elsewhere:v1"), []fwk.NodeInfo{real, foreign}, []string{"real", "foreign"}, ""},
		{"with our volume", claimed("ours"), all, []string{"real", "foreign"}, "so it runs on a real node"},
		{"with another volume", claimed("nfs"), all, []string{"simulated", "foreign"}, "refuse the nfs volume of claim nfs"},
		{"with a hostPath", with(hostPath), all, []string{"simulated", "foreign"}, "refuse the hostPath volume data"},
		{"with a hostPath, all nodes real", with(hostPath), []fwk.NodeInfo{real}, []string{"real"}, ""},
		{"a DaemonSet's with a hostPath", daemonOnHost, all, []string{"simulated", "real", "foreign"}, ""},
		{"privileged", privileged, all, []string{"real", "foreign"}, "so it runs on a real node"},
		{"privileged, beside plain nodes", privileged, []fwk.NodeInfo{simulated, plain}, []string{"simulated"}, "where pods are plain processes"},
		{"there, all nodes simulated", pod("here:v1"), []fwk.NodeInfo{simulated}, []string{"simulated"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			names, words := fits(t, p, c.pod, c.nodes...)
			if !slices.Equal(names, c.fit) || !strings.Contains(words, c.words) {
				t.Errorf("fits %v, not %v; says %q", names, c.fit, words)
			}
		})
	}
}

func TestPluginsOfTheProfile(t *testing.T) {
	for _, c := range []struct {
		images Images
		want   int
	}{{nil, 1}, {some{}, 2}} {
		profiles, registry, err := profile(c.images)
		if err != nil || len(registry) != c.want {
			t.Errorf("%d plugins, want %d (%v)", len(registry), c.want, err)
		}
		for _, p := range profiles {
			has := func(name string) bool {
				return slices.ContainsFunc(p.Plugins.MultiPoint.Enabled, func(e config.Plugin) bool { return e.Name == name }) &&
					slices.ContainsFunc(p.PluginConfig, func(e config.PluginConfig) bool { return e.Name == name && e.Args != nil })
			}
			if has(volumebinding.Name) || !has(byClaims) {
				t.Errorf("the plugin for volumes is not in the place of the stock one: %+v", p.Plugins.MultiPoint.Enabled)
			}
			if byImages := len(p.Plugins.Filter.Enabled) + len(p.Plugins.PreFilter.Enabled); byImages != 2*(c.want-1) {
				t.Errorf("%d points for images with %v", byImages, c.images)
			}
		}
	}
}

// slowBinder waits until it is told to end, as the stock one does for a second.
type slowBinder struct {
	volumebinding.SchedulerVolumeBinder
	err error
}

func (s slowBinder) BindPodVolumes(ctx context.Context, _ *corev1.Pod, _ *volumebinding.PodVolumes) error {
	if s.err != nil {
		return s.err
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestClaimsAreBoundFast: a pod waits for its claims no longer than until all are bound to the cluster's own volumes.
func TestClaimsAreBoundFast(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "ours"}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
	}
	bind := func(fails error, scratch string, phase corev1.PersistentVolumeClaimPhase) error {
		b := binder{SchedulerVolumeBinder: slowBinder{err: fails}, claims: func(namespace, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
			if name == "pod-scratch" {
				name = scratch
			}
			claim, volume := claimsFor(namespace, name)
			claim.Status.Phase = phase
			return claim, volume
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*bindPoll)
		defer cancel()
		if fails == nil && phase == corev1.ClaimBound && scratch == "ours" {
			ctx = t.Context() // it ends by itself
		}
		return b.BindPodVolumes(ctx, pod, nil)
	}
	failed := errors.New("failed")
	for _, c := range []struct {
		fails   error
		scratch string
		phase   corev1.PersistentVolumeClaimPhase
		want    error
	}{
		{nil, "ours", corev1.ClaimBound, nil},
		{nil, "ours", corev1.ClaimPending, context.DeadlineExceeded},
		{nil, "nfs", corev1.ClaimBound, context.DeadlineExceeded},
		{failed, "ours", corev1.ClaimPending, failed},
	} {
		if err := bind(c.fails, c.scratch, c.phase); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

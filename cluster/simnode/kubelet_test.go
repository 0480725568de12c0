package simnode_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/kubernetes/pkg/kubelet/images"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/simnode"
)

// hindrance is why a kubelet does not start a pod, and how it reports that.
type hindrance struct {
	name    string
	change  func(*corev1.Pod)
	reason  string   // of a container that waits, or of a pod that failed
	message string   // is in that of the container or pod, or in that of the first Event
	events  []string // their reasons; a "!" before the first one says that it is about the pod
	cure    func()   // after which the pod is ready; nil: it never is
}

// The reasons are those in the kubelet's own code.
func TestNodesRefuseAsAKubelet(t *testing.T) {
	config, client := start(t)
	registry := &registry{}
	nodes, err := simnode.Run(t.Context(), config, simnode.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Images: registry, Specs: []node.Spec{
		{Name: "n", Labels: map[string]string{"disk": "ssd"}, Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
		{Name: "full", Capacity: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}},
		{Name: "tainted", Taints: []node.Taint{{Key: "k", Effect: corev1.TaintEffectNoExecute}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes.Stop)
	await(t, client, create(t, client, pod("first", "full", corev1.RestartPolicyAlways)).Name, ready)
	listener := pod("listener", "n", corev1.RestartPolicyAlways)
	hostPort(listener)
	await(t, client, create(t, client, listener).Name, ready)
	put(t, client, "half", "other")
	table := slices.Concat(references(t, client), claims(t, client), paths(t, client), containers(t, registry), admissions())
	t.Run("table", func(t *testing.T) {
		for _, h := range table {
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				h.check(t, client)
			})
		}
	})
	t.Run("secret goes between runs", func(t *testing.T) { testSecretGoes(t, client) })
	t.Run("extended resources reach allocatable", func(t *testing.T) { testExtendedResources(t, client) })
}

// references are those to Secrets and ConfigMaps.
func references(t *testing.T, client kubernetes.Interface) []hindrance {
	config := inKubelet(t, "kuberuntime/kuberuntime_container.go", "ErrCreateContainerConfig")
	creating := inKubelet(t, "kubelet_pods.go", "ContainerCreating")
	failed, unmounted := []string{events.FailedToCreateContainer}, []string{events.FailedMountVolume}
	arrives := func(name string) func() { return func() { put(t, client, name, "key") } }
	gains := func(name string) func() {
		put(t, client, name, "other")
		return func() { gain(t, client, name, "key") }
	}
	return []hindrance{
		{"secret of a variable", variable(secretKey("a", "key")), config, `secret "a" not found`, failed, arrives("a")},
		{"config map of a variable", variable(configMapKey("b", "key")), config, `configmap "b" not found`, failed, arrives("b")},
		{"key of a secret", variable(secretKey("c", "key")), config, "couldn't find key key in Secret default/c", failed, gains("c")},
		{"key of a config map", variable(configMapKey("d", "key")), config, "couldn't find key key in ConfigMap default/d", failed, gains("d")},
		{"secret of all variables", from(corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("e")}}), config, `secret "e" not found`, failed, arrives("e")},
		{"config map of all variables", from(corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named("f")}}), config, `configmap "f" not found`, failed, arrives("f")},
		{"secret of a volume", mounted(secretVolume("g")), creating, `MountVolume.SetUp failed for volume "v" : secret "g" not found`, unmounted, arrives("g")},
		{"config map of a volume", mounted(configMapVolume("h")), creating, `MountVolume.SetUp failed for volume "v" : configmap "h" not found`, unmounted, arrives("h")},
		{"key of a secret's volume", mounted(secretVolume("i", "key")), creating, "references non-existent secret key: key", unmounted, gains("i")},
		{"key of a config map's volume", mounted(configMapVolume("j", "key")), creating, "configmap references non-existent config key: key", unmounted, gains("j")},
		{"projected volume", mounted(projected("k", false)), creating, `[secret "k" not found, configmap "k" not found]`, unmounted, arrives("k")},
		{"container of a variable", variable(&corev1.EnvVarSource{ResourceFieldRef: limitOf("none")}), config, "container none not found", failed, nil},
		{"container of a volume", mounted(downward("none")), creating, `MountVolume.SetUp failed for volume "v" : container none not found`, unmounted, nil},
		{name: "its own container", change: all(variable(&corev1.EnvVarSource{ResourceFieldRef: limitOf("main")}), mounted(downward("main")))},
		{name: "optional secret and config map", change: all(
			variable(secretKey("none", "key")), optional, mounted(projected("none", true)), from(corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("none"), Optional: new(true)}}),
		)},
		{name: "optional key", change: all(variable(configMapKey("half", "key")), optional)},
		{name: "volume that no container mounts", change: unused(secretVolume("none"))},
	}
}

// claims are those of volumes. The scheduler would not place such pods.
func claims(t *testing.T, client kubernetes.Interface) []hindrance {
	creating, failed := inKubelet(t, "kubelet_pods.go", "ContainerCreating"), []string{events.FailedMountVolume}
	message := func(name, why string) string {
		return "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: error processing PVC default/" + name + ": " + why
	}
	claim(t, client, "unbound", corev1.PersistentVolumeFilesystem)
	claim(t, client, "block", corev1.PersistentVolumeBlock)
	bind(t, client, "block")
	return []hindrance{
		{"claim", mounted(claimVolume("l")), creating, message("l", `failed to fetch PVC from API server: persistentvolumeclaims "l" not found`), failed, func() {
			claim(t, client, "l", corev1.PersistentVolumeFilesystem)
			bind(t, client, "l")
		}},
		{"claim that is not bound", mounted(claimVolume("unbound")), creating, message("unbound", "PVC is not bound"), failed, func() { bind(t, client, "unbound") }},
		{"claim of its own", mounted(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}}}), creating, message("claim-of-its-own-v", "failed to fetch PVC"), failed, nil},
		{"claim for devices", mounted(claimVolume("block")), creating, "volume v has volumeMode Block, but is specified in volumeMounts", failed, nil},
		{name: "claim that no container mounts", change: unused(claimVolume("none"))},
	}
}

// paths are those of mounts with variables.
func paths(t *testing.T, client kubernetes.Interface) []hindrance {
	config, failed := inKubelet(t, "kuberuntime/kuberuntime_container.go", "ErrCreateContainerConfig"), []string{events.FailedToCreateContainer}
	value := func(text string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "V", Value: text}} }
	}
	label := variable(&corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['set']"}})
	put(t, client, "all", "FROM_ALL")
	return []hindrance{
		{"path of no variable", below("a/$(NONE)/$(OTHER)"), config, "missing value for NONE, OTHER", failed, nil},
		{"path of an empty variable", all(below("$(V)"), value("")), config, "missing value for V", failed, nil},
		{"path of a label that is missing", all(below("$(V)"), label), config, "missing value for V", failed, nil},
		{"path of an optional key", all(below("$(V)"), variable(configMapKey("half", "key")), optional), config, "missing value for V", failed, nil},
		{"path that leads elsewhere", all(below("$(V)"), value("/etc")), config, "must not be an absolute path", failed, nil},
		{"path that leads up", all(below("$(V)"), value("a/../..")), config, "unable to provision SubPath", failed, nil},
		{name: "path of variables", change: all(below("$(V)/$(FROM_ALL)/$(KUBERNETES_SERVICE_HOST)"), value("$(FROM_ALL)"), from(corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("all")}}))},
		{name: "path of a label", change: all(below("$(V)"), label, func(p *corev1.Pod) { p.Labels = map[string]string{"set": "a"} })},
	}
}

// containers are their images and users.
func containers(t *testing.T, registry *registry) []hindrance {
	config := inKubelet(t, "kuberuntime/kuberuntime_container.go", "ErrCreateContainerConfig")
	root := &corev1.SecurityContext{RunAsUser: new(int64(0))}
	return []hindrance{
		{"image's name", image("example.com/UPPER:v1", corev1.PullIfNotPresent), images.ErrInvalidImageName.Error(), "couldn't parse image name",
			[]string{events.FailedToInspectImage, events.FailedToCreateContainer}, nil},
		{"image that is not pulled", image("example.com/own:v1", corev1.PullNever), images.ErrImageNeverPull.Error(), `Container image "example.com/own:v1" is not present with pull policy of Never`,
			[]string{events.ErrImageNeverPullPolicy, events.FailedToCreateContainer}, func() { registry.add("example.com/own:v1") }},
		{"volume of an image", mounted(imageVolume("example.com/data:v1", corev1.PullNever)), images.ErrImageNeverPull.Error(), `Container image "example.com/data:v1" is not present with pull policy of Never`,
			[]string{"!" + events.ErrImageNeverPullPolicy, events.FailedToCreateContainer}, func() { registry.add("example.com/data:v1") }},
		{"name of a volume's image", mounted(imageVolume("example.com/UPPER:v1", corev1.PullIfNotPresent)), images.ErrInvalidImageName.Error(), "couldn't parse image name",
			[]string{"!" + events.FailedToInspectImage, events.FailedToCreateContainer}, nil},
		{name: "volume of an image that can be pulled", change: mounted(imageVolume("example.com/data:v2", corev1.PullIfNotPresent))},
		{name: "image that an annotation has", change: all(image("example.com/other:v1", corev1.PullNever), func(p *corev1.Pod) {
			p.Annotations = map[string]string{"slipway.dev/image-pull": "succeed"}
		})},
		{"pod not as root", func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(0))}
		}, config, "container's runAsUser breaks non-root policy", []string{events.FailedToCreateContainer}, nil},
		{"container not as root", func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(1))}
			p.Spec.Containers[0].SecurityContext = root
		}, config, "container's runAsUser breaks non-root policy", []string{events.FailedToCreateContainer}, nil},
		{name: "container as another user", change: func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), RunAsUser: new(int64(0))}
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64(1))}
		}},
	}
}

// admissions are those of pods that name their node themselves.
func admissions() []hindrance {
	rejected := func(name string, change func(*corev1.Pod), reason, message string) hindrance {
		return hindrance{name, change, reason, message, []string{reason}, nil}
	}
	return []hindrance{
		rejected("CPU", requests(corev1.ResourceCPU, "3"), lifecycle.OutOfCPU, "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000"),
		rejected("memory", requests(corev1.ResourceMemory, "1Ti"), lifecycle.OutOfMemory, "Pod was rejected: Node didn't have enough resource: memory"),
		rejected("disk", requests(corev1.ResourceEphemeralStorage, "2Ti"), lifecycle.OutOfEphemeralStorage, "Pod was rejected: Node didn't have enough resource: ephemeral-storage"),
		rejected("number of pods", on("full"), lifecycle.OutOfPods, "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1"),
		rejected("selector", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "hdd"} }, nodeaffinity.Name, nodeaffinity.ErrReasonPod),
		rejected("affinity", func(p *corev1.Pod) {
			none := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpDoesNotExist}
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{none}}},
			}}}
		}, nodeaffinity.Name, nodeaffinity.ErrReasonPod),
		rejected("port of the host", hostPort, nodeports.Name, nodeports.ErrReason),
		rejected("taint", on("tainted"), tainttoleration.Name, tainttoleration.ErrReasonNotMatch),
		rejected("sysctl", sysctls("net.ipv4.tcp_syncookies", "kernel.msgmax"), sysctl.ForbiddenReason, `Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted`),
		{name: "safe sysctls", change: sysctls("net.ipv4.tcp_syncookies", "kernel.shm_rmid_forced")},
		rejected("system", func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }, lifecycle.PodOSNotSupported, "OS field"),
		{name: "what a node has", change: all(requests(corev1.ResourceCPU, "1"), func(p *corev1.Pod) {
			p.Spec.NodeSelector, p.Spec.OS = map[string]string{"disk": "ssd", corev1.LabelOSStable: "linux"}, &corev1.PodOS{Name: corev1.Linux}
			p.Spec.SecurityContext = &corev1.PodSecurityContext{SupplementalGroupsPolicy: new(corev1.SupplementalGroupsPolicyStrict)}
		})},
	}
}

func (h hindrance) check(t *testing.T, client kubernetes.Interface) {
	p := pod(strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(h.name), " ", "-"), "'", ""), "n", corev1.RestartPolicyAlways)
	h.change(p)
	create(t, client, p)
	if h.reason != "" {
		held := await(t, client, p.Name, h.held)
		h.checkStatus(t, held)
		for i, reason := range h.events {
			reason, ofPod := strings.CutPrefix(reason, "!")
			h.checkEvent(t, awaitEvent(t, client, p.Name, reason), held, ofPod, i == 0)
		}
		if h.cure == nil {
			return
		}
		h.cure()
	}
	await(t, client, p.Name, func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 0 })
}

// held says whether the pod shows the reason.
func (h hindrance) held(p *corev1.Pod) bool {
	if p.Status.Reason == h.reason {
		return p.Status.Phase == corev1.PodFailed
	}
	return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].State.Waiting != nil && p.Status.ContainerStatuses[0].State.Waiting.Reason == h.reason
}

func (h hindrance) checkStatus(t *testing.T, p *corev1.Pod) {
	s := p.Status
	sandbox := slices.ContainsFunc(s.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReadyToStartContainers && c.Status == corev1.ConditionTrue
	})
	switch {
	case s.Phase == corev1.PodFailed:
		if !strings.Contains(s.Message, h.message) || len(s.ContainerStatuses)+len(s.Conditions) > 0 || s.StartTime == nil || s.PodIP != "" {
			t.Errorf("rejected: %+v", s)
		}
	case s.Phase != corev1.PodPending || ready(p):
		t.Errorf("held: %+v", s)
	case h.events[0] == events.FailedMountVolume:
		if sandbox || s.PodIP != "" || s.HostIP == "" {
			t.Errorf("without its volumes: %+v", s)
		}
	case !sandbox || s.PodIP == "" || !strings.Contains(s.ContainerStatuses[0].State.Waiting.Message, h.message):
		t.Errorf("without a container: %+v", s)
	}
}

func (h hindrance) checkEvent(t *testing.T, e corev1.Event, p *corev1.Pod, ofPod, first bool) {
	path := "spec.containers{main}"
	if ofPod || p.Status.Phase == corev1.PodFailed || h.events[0] == events.FailedMountVolume {
		path = ""
	}
	if e.Source != (corev1.EventSource{Component: "kubelet", Host: p.Spec.NodeName}) || e.ReportingController != "kubelet" ||
		e.InvolvedObject.UID != p.UID || e.InvolvedObject.FieldPath != path || e.Type != corev1.EventTypeWarning {
		t.Errorf("%+v", e)
	}
	if first && !strings.Contains("Pod was rejected: "+strings.TrimPrefix(e.Message, "Error: "), h.message) {
		t.Errorf("message %q, want %q", e.Message, h.message)
	}
}

// testSecretGoes: a container that crashes and whose Secret is gone by then is not created again, until there is one.
func testSecretGoes(t *testing.T, client kubernetes.Interface) {
	put(t, client, "s", "key")
	p := pod("p", "n", corev1.RestartPolicyAlways)
	variable(secretKey("s", "key"))(p)
	create(t, client, p)
	await(t, client, "p", ready)
	drop(t, client, "s")
	annotate(t, client, "p", "slipway.dev/exit-code", "1")
	waits := inKubelet(t, "kuberuntime/kuberuntime_container.go", "ErrCreateContainerConfig")
	await(t, client, "p", func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses[0]
		return s.State.Waiting != nil && s.State.Waiting.Reason == waits && s.LastTerminationState.Terminated != nil && s.RestartCount == 0 && p.Status.Phase == corev1.PodRunning
	})
	annotate(t, client, "p", "slipway.dev/exit-code", "")
	put(t, client, "s", "key")
	await(t, client, "p", func(p *corev1.Pod) bool { return ready(p) && p.Status.ContainerStatuses[0].RestartCount == 1 })
}

func testExtendedResources(t *testing.T, client kubernetes.Interface) {
	for _, step := range []struct{ patch, want string }{
		{`{"status":{"capacity":{"example.com/gpu":"4"}}}`, "4"},
		{`{"status":{"capacity":{"example.com/gpu":null}}}`, "0"},
	} {
		if _, err := client.CoreV1().Nodes().Patch(t.Context(), "full", types.MergePatchType, []byte(step.patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		nodes := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "nodes", "", fields.Everything())
		until(t, nodes, &corev1.Node{}, never, func(e watch.Event) (bool, error) {
			n, ok := e.Object.(*corev1.Node)
			if !ok || n.Name != "full" {
				return false, nil
			}
			amount := n.Status.Allocatable["example.com/gpu"]
			return amount.String() == step.want && n.Status.Allocatable.Cpu().Value() == 64, nil
		})
	}
}

// inKubelet is the text that a name stands for in a file of the kubelet.
func inKubelet(t *testing.T, file, name string) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/kubelet", file))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\b` + name + `\s*=\s*(?:errors\.New\()?"(\w+)"`).FindSubmatch(source)
	if found == nil {
		t.Fatalf("%s has no %s", file, name)
	}
	return string(found[1])
}

// registry has images that were loaded.
type registry struct {
	mu   sync.Mutex
	has  []string
	news func()
}

func (r *registry) Has(ref string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.has, ref)
}

func (r *registry) Follow(_ context.Context, f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.news = f
}

func (r *registry) add(ref string) {
	r.mu.Lock()
	r.has = append(r.has, ref)
	news := r.news
	r.mu.Unlock()
	news()
}

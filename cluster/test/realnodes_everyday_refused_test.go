package test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

func hasVolume(s corev1.VolumeSource) func(*corev1.PodSpec) {
	return func(p *corev1.PodSpec) { p.Volumes = []corev1.Volume{{Name: "data", VolumeSource: s}} }
}

func mountsAt(m corev1.VolumeMount) func(*corev1.PodSpec) {
	return func(p *corev1.PodSpec) {
		hasVolume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(p)
		m.Name = "data"
		p.Containers[0].VolumeMounts = []corev1.VolumeMount{m}
	}
}

func secured(s corev1.SecurityContext) func(*corev1.PodSpec) {
	return func(p *corev1.PodSpec) { p.Containers[0].SecurityContext = &s }
}

// testRefused: the API server refuses each pod that a real node would not run, with the reason.
func testRefused(t *testing.T, c *realCluster) {
	class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "gvisor"}, Handler: "runsc"}
	must[*nodev1.RuntimeClass](t)(c.client.NodeV1().RuntimeClasses().Create(t.Context(), class, metav1.CreateOptions{}))
	for words, change := range map[string]func(*corev1.PodSpec){
		"the hostPath volume data":             hasVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}),
		"the nfs volume data":                  hasVolume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "192.0.2.1", Path: "/"}}),
		"the csi volume data":                  hasVolume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "disk.example.com"}}),
		"hostPID":                              func(p *corev1.PodSpec) { p.HostPID = true },
		"hostIPC":                              func(p *corev1.PodSpec) { p.HostIPC = true },
		"shareProcessNamespace":                func(p *corev1.PodSpec) { p.ShareProcessNamespace = new(true) },
		"hostUsers: false":                     func(p *corev1.PodSpec) { p.HostUsers = new(false) },
		"the runtime class gvisor":             func(p *corev1.PodSpec) { p.RuntimeClassName = new("gvisor") },
		"a seccomp profile of the type Local":  secured(corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: new("a.json")}}),
		"an AppArmor profile of the type Loca": secured(corev1.SecurityContext{AppArmorProfile: &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("a")}}),
		"mountPropagation Bidirectional": func(p *corev1.PodSpec) {
			mountsAt(corev1.VolumeMount{MountPath: "/data", MountPropagation: new(corev1.MountPropagationBidirectional)})(p)
			p.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)} // the API asks for it
		},
		"the volume mounted on /":      mountsAt(corev1.VolumeMount{MountPath: "/"}),
		"the volume mounted on /proc/": mountsAt(corev1.VolumeMount{MountPath: "/proc/data"}),
		"the sysctl kernel.shm_rmid":   func(p *corev1.PodSpec) { p.SecurityContext = sysctl("kernel.shm_rmid_forced") },
		"the block device /dev/data": func(p *corev1.PodSpec) {
			hasVolume(volumeOf("data"))(p)
			p.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/data"}}
		},
		"the resource claim gpu": func(p *corev1.PodSpec) {
			p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("gpu")}}
		},
	} {
		p := c.pod("refused")
		change(&p.Spec)
		c.refuses(p, "real nodes refuse "+words)
	}
	allowed := c.pod("sysctl", "cat", "/proc/sys/net/ipv4/ip_unprivileged_port_start")
	allowed.Spec.RestartPolicy, allowed.Spec.SecurityContext = corev1.RestartPolicyNever, sysctl("net.ipv4.ip_unprivileged_port_start")
	c.create(allowed)
	c.await("sysctl", succeeded)
	if got := c.log("sysctl", corev1.PodLogOptions{}); got != "1\n" {
		t.Errorf("the pod's sysctl is %q", got)
	}
}

func sysctl(name string) *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: name, Value: "1"}}}
}

// testRefusedControllers: a Deployment, a StatefulSet and a DaemonSet report that their pods are refused.
func testRefusedControllers(t *testing.T, c *realCluster) {
	p := c.pod("on-host")
	hasVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}})(&p.Spec)
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec}
	c.createDeployment(p, 1)
	apps, selector := c.client.AppsV1(), &metav1.LabelSelector{MatchLabels: p.Labels}
	must[*appsv1.StatefulSet](t)(apps.StatefulSets(c.ns).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "set-on-host"}, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template},
	}, metav1.CreateOptions{}))
	daemon := p.DeepCopy()
	daemon.Name = "daemon-on-host"
	c.createDaemonSet(daemon)
	for _, kind := range []string{"ReplicaSet", "StatefulSet", "DaemonSet"} {
		eventually(t, "a "+kind+" reports it", func(ctx context.Context) (bool, error) {
			events, err := c.client.CoreV1().Events(c.ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedCreate,involvedObject.kind=" + kind})
			if err != nil {
				return false, err
			}
			for _, e := range events.Items {
				if strings.Contains(e.InvolvedObject.Name, "on-host") && strings.Contains(e.Message, "real nodes refuse the hostPath volume data") {
					return true, nil
				}
			}
			return false, nil
		})
	}
	out := c.mustKubectl("describe", "deployment", "on-host")
	if !strings.Contains(out, "FailedCreate") {
		t.Errorf("the Deployment itself does not show it: %s", out)
	}
}

// testRefusedCapability: a pod with an unknown capability waits, and an Event reports the reason.
func testRefusedCapability(t *testing.T, c *realCluster) {
	p := c.pod("incapable")
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"FLYING"}}}
	c.create(p)
	c.awaitEvent("incapable", "Failed", `unknown capability "FLYING"`)
	c.remove("incapable")
}

// testDebugTarget: a container that is to see another's processes is refused, and reports the way that works.
func testDebugTarget(t *testing.T, c *realCluster) {
	c.create(c.pod("watched", "graceful"))
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p := c.await("watched", ready)
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
			TargetContainerName:      "main",
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "spy", Image: c.image, Args: []string{"echo"}},
		}}
		_, err := c.client.CoreV1().Pods(c.ns).UpdateEphemeralContainers(t.Context(), "watched", p, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c.awaitEvent("watched", "Failed", "without --target it runs")
	if p := c.await("watched", ready); c.mainStatus(p).RestartCount != 0 {
		t.Error("the container itself was started anew")
	}
	c.remove("watched")
}

// testHostNetwork: the network of a pod with hostNetwork is the node's.
func testHostNetwork(t *testing.T, c *realCluster) {
	p := c.pod("on-node", "serve", "8091", "9091")
	p.Spec.HostNetwork, p.Spec.NodeName = true, "node-1"
	c.create(p)
	p = c.await("on-node", ready)
	n, err := c.client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var internal string
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			internal = a.Address
		}
	}
	if p.Status.PodIP == "" || p.Status.PodIP != internal {
		t.Errorf("the pod's address is %q, the node's %q", p.Status.PodIP, internal)
	}
	if got := c.exec("on-node", "pod", "resolve", "kubernetes.default.svc.cluster.local"); got != "10.0.0.1\n" {
		t.Errorf("the name of the API server leads to %q", got)
	}
	c.remove("on-node")
}

// testPrivileged: neither privileged nor NET_ADMIN changes the pod's network.
func testPrivileged(t *testing.T, c *realCluster) {
	for name, s := range map[string]corev1.SecurityContext{
		"privileged": {Privileged: new(true), RunAsUser: new(int64(0))},
		"net-admin":  {RunAsUser: new(int64(0)), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}},
	} {
		p := c.pod(name, "graceful")
		secured(s)(&p.Spec)
		c.create(p)
		c.await(name, ready)
		if got := c.exec(name, "pod", "status"); !hasCapability(got, capNetAdmin) {
			t.Errorf("%s lacks NET_ADMIN: %s", name, got)
		}
		if out, stderr, err := c.try(name, nil, false, "pod", "linkdown"); err == nil || !strings.Contains(stderr, "not permitted") {
			t.Errorf("%s: its loopback is down: %s %s %v", name, out, stderr, err)
		}
		c.remove(name)
	}
}

// testSELinux: a pod's label is ignored.
func testSELinux(t *testing.T, c *realCluster) {
	p := c.pod("labelled", "graceful")
	p.Spec.SecurityContext = &corev1.PodSecurityContext{SELinuxOptions: &corev1.SELinuxOptions{Level: "s0:c123,c456"}}
	c.create(p)
	c.await("labelled", ready)
	c.remove("labelled")
}

// capNetAdmin is that capability's number.
const capNetAdmin = 12

// hasCapability says whether a process of this status has a capability in effect.
func hasCapability(status string, number uint) bool {
	for line := range strings.Lines(status) {
		if text, ok := strings.CutPrefix(line, "CapEff:"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
			return err == nil && set>>number&1 == 1
		}
	}
	return false
}

//go:build linux

package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/cluster/internal/testlock"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// forbidden makes a process that of an ordinary user to whom the system gives no user namespaces: in one of its own,
// whose limit of them is 0.
func forbidden(cmd *exec.Cmd) {
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = ordinary, ordinary
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}, Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE}, // for the one line that follows
	}
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(cmd.Path))
	cmd.Args = append([]string{"sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
}

// startPlain starts a cluster where real nodes are forbidden, and returns what it says of that.
func startPlain(t *testing.T) (c *realCluster, note string) {
	t.Helper()
	config := newConfig(t)
	if err := os.Chown(filepath.Dir(config.Dir), ordinary, ordinary); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	config.NodeKind = protocol.RealNodes
	config.NodeProgram = forOthers(t, nodeProgram(), filepath.Join(filepath.Dir(nodeProgram()), "slipway-container"))
	image := publish(t)
	p := launch(t, config, readable(t), forbidden)
	note = p.next("note").Text
	p.next("ready")
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(config.Dir, "logs", "nodes.log"))
			t.Logf("log of the nodes:\n%s", log[max(0, len(log)-4000):])
		}
	})
	return &realCluster{program: p, t: t, client: p.clients(), image: image, ns: metav1.NamespaceDefault}, note
}

func TestPlain(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "--user", "true").Run(); err != nil {
		t.Skip("a namespace is needed to forbid namespaces:", err)
	}
	c, note := startPlain(t)
	for _, want := range []string{"plain processes of this machine", "max_user_namespaces", "one replica", "Services", "sudo sysctl user.max_user_namespaces=10000"} {
		if !strings.Contains(note, want) {
			t.Errorf("the note does not say %q: %s", want, note)
		}
	}
	t.Run("label", func(t *testing.T) { testPlainLabel(t, c) })
	t.Run("capacity", func(t *testing.T) { testLarge(t, c, "node-1") })
	t.Run("serving", func(t *testing.T) { testPlainServing(t, c) })
	t.Run("volumes", func(t *testing.T) { testPlainVolumes(t, c) })
	t.Run("claims", func(t *testing.T) { testClaims(t, c) })
	t.Run("image again", func(t *testing.T) { testImageAgain(t, c) })
	t.Run("ends", func(t *testing.T) { testPlainEnds(t, c) })
	t.Run("refused", func(t *testing.T) { testPlainRefused(t, c) })
	t.Run("kill", func(t *testing.T) { testPlainKill(t, c) })
}

// testPlainLabel: nodes say that their pods are plain processes.
func testPlainLabel(t *testing.T, c *realCluster) {
	nodes, err := c.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: node.RealLabel + "," + node.PlainLabel})
	if err != nil || len(nodes.Items) != 1 {
		t.Errorf("plain nodes are %v, %v; want one", nodes.Items, err)
	}
}

// testPlainServing: a probe, a Service, logs, exec, and what is left out of the security context.
func testPlainServing(t *testing.T, c *realCluster) {
	port := testlock.Port(t)
	p := c.pod("server", "serve", strconv.Itoa(port), "0")
	p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(7)), FSGroup: new(int64(8))}
	p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt(port)}}, PeriodSeconds: 1,
	}
	c.create(p)
	c.await("server", ready)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "server"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "server"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt(port)}},
	}}
	if _, err := c.client.CoreV1().Services(c.ns).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	eventually(t, "the API server reaches the pod through its Service", func(ctx context.Context) (bool, error) {
		got, err := c.client.CoreV1().Services(c.ns).ProxyGet("http", "server", "80", "/", nil).DoRaw(ctx)
		return err == nil && string(got) == host, nil
	})
	if got := c.log("server", corev1.PodLogOptions{}); got != fmt.Sprintf("serving %d\n", port) {
		t.Errorf("logged %q", got)
	}
	if got, _, err := c.try("server", strings.NewReader("text"), false, "pod", "cat"); got != "text" || err != nil {
		t.Errorf("cat: %q, %v", got, err)
	}
	if got, _, err := c.try("server", strings.NewReader(""), true, "pod", "terminal"); !strings.Contains(got, "terminal: true") || err != nil {
		t.Errorf("a terminal: %q, %v", got, err)
	}
	if _, _, err := c.try("server", nil, false, "pod", "exit", "7"); err == nil || !strings.Contains(err.Error(), "exit code 7") {
		t.Errorf("exit 7: %v", err)
	}
	if _, stderr, err := c.try("server", nil, false, "sh"); err == nil || !strings.Contains(stderr+err.Error(), "not found") {
		t.Errorf("a program of this machine, not of the image: %v, %s", err, stderr)
	}
	if got := c.exec("server", "pod", "kubeconfig", "/version"); !strings.Contains(got, "gitVersion") {
		t.Errorf("the API server answers %s", got)
	}
	c.awaitEvent("server", "NotIsolated", "without: fsGroup, runAsUser")
	c.remove("server")
}

// testPlainVolumes: paths are those of this machine, and the image's files stay as they are.
func testPlainVolumes(t *testing.T, c *realCluster) {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "words"}, Data: map[string]string{"word": "mounted\n"}}
	if _, err := c.client.CoreV1().ConfigMaps(c.ns).Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"reads": {"cat", "/etc/words/word", "/etc/passwd"}, "writes": {"write", "/etc/passwd", "spoilt"}, "reads-again": {"cat", "/etc/words/word", "/etc/passwd"}} {
		p := c.pod(name, args...)
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.Spec.Volumes = []corev1.Volume{{Name: "words", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "words"}},
		}}}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "words", MountPath: "/etc/words"}}
		c.create(p)
		c.await(name, succeeded)
		want := "mounted\nroot:x:0:0::/:/\nnonroot:x:65532:65532::/home:/\n"
		if got := c.log(name, corev1.PodLogOptions{}); args[0] == "cat" && got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// testPlainEnds: exit statuses, restarts, grace, and all that a container has begun ends with it.
func testPlainEnds(t *testing.T, c *realCluster) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "fails"}, Spec: batchv1.JobSpec{BackoffLimit: new(int32(0))}}
	job.Spec.Template.Spec = c.pod("fails", "exit", "3").Spec
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if _, err := c.client.BatchV1().Jobs(c.ns).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Job has failed with its exit status", func(ctx context.Context) (bool, error) {
		pods, err := c.client.CoreV1().Pods(c.ns).List(ctx, metav1.ListOptions{LabelSelector: "job-name=fails"})
		if err != nil || len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) != 1 {
			return false, err
		}
		ended := pods.Items[0].Status.ContainerStatuses[0].State.Terminated
		return ended != nil && ended.ExitCode == 3, nil
	})
	c.create(c.pod("crashes", "exit", "1"))
	c.await("crashes", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount >= 2
	})
	c.remove("crashes")

	c.create(c.pod("graceful", "graceful"))
	c.await("graceful", ready)
	c.remove("graceful")

	c.create(c.pod("leaves", "leave"))
	var left int
	eventually(t, "a process has left", func(ctx context.Context) (bool, error) {
		text, err := c.client.CoreV1().Pods(c.ns).GetLogs("leaves", &corev1.PodLogOptions{}).DoRaw(ctx)
		if err != nil {
			return false, nil // it does not run yet
		}
		_, err = fmt.Sscanf(string(text), "left %d", &left)
		return err == nil, nil
	})
	all := map[int]string{left: "what has left"}
	if syscall.Kill(left, 0) != nil {
		t.Error("nothing has left")
	}
	pod := c.pod("leaves")
	if err := c.client.CoreV1().Pods(c.ns).Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))}); err != nil {
		t.Fatal(err)
	}
	allEnded(t, all)
}

// testPlainRefused: what would be dangerous is not ignored.
func testPlainRefused(t *testing.T, c *realCluster) {
	p := c.pod("privileged")
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	c.refuses(p, "the privileged container main where pods are plain processes")
	p = c.pod("host-path")
	p.Spec.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
	p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "host", MountPath: "/host"}}
	c.refuses(p, "the hostPath volume host")
}

// testPlainKill: when the node is killed its pods' processes end and come back, and nothing is left of a cluster that
// is killed.
func testPlainKill(t *testing.T, c *realCluster) {
	c.create(c.pod("kept", "stubborn"))
	c.await("kept", ready)
	before := c.processes()
	killProcess(t, c.find("slipway-node"))
	allEnded(t, before)
	eventually(t, "the pod is started again", func(ctx context.Context) (bool, error) {
		p, err := c.client.CoreV1().Pods(c.ns).Get(ctx, "kept", metav1.GetOptions{})
		return err == nil && c.mainStatus(p).RestartCount >= 1 && ready(p), err
	})
	before = c.processes()
	if len(before) < 3 {
		t.Errorf("only the processes %v", before)
	}
	killProcess(t, c.cmd.Process.Pid)
	allEnded(t, before)
}

// testPlainStop: a cluster that is stopped returns when nothing of its nodes is left.
func testPlainStop(t *testing.T, c *realCluster) {
	c.create(c.pod("stays", "stubborn"))
	c.await("stays", ready)
	processes := c.processes()
	c.send(`{"id":1,"method":"stop"}`)
	c.waitExit()
	for pid, name := range processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("%s is still there: %s", name, stat)
		}
	}
}

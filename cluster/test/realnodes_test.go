package test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// realCluster is a cluster with real nodes and an image for their pods.
type realCluster struct {
	*program
	t      testing.TB
	client clients
	image  string
	ns     string            // of its pods
	how    []func(*exec.Cmd) // it was started

	streams func() // ends those that a test has open; may be nil
}

// in is the cluster as a test sees it that shares it with others: with a namespace of its own.
func (c *realCluster) in(t *testing.T) *realCluster {
	t.Helper()
	return &realCluster{program: c.program, t: t, client: c.client, image: c.image, ns: newNamespace(t, c.client), how: c.how}
}

// part runs a test with the cluster, which may start it again.
func (c *realCluster) part(t *testing.T, name string, run func(*testing.T, *realCluster)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		own := *c
		own.t = t
		defer func() { c.program, c.client = own.program, own.client }()
		run(t, &own)
	})
}

// dial connects to the program's socket for this test.
func (c *realCluster) dial() *client {
	c.t.Helper()
	return c.program.dial(c.t)
}

// running creates a pod with these arguments, and returns when it is ready.
func (c *realCluster) running(name string, args ...string) {
	c.t.Helper()
	c.create(c.pod(name, args...))
	c.await(name, ready)
}

// ordinary is the user that runs a cluster for those tests that are run as root.
const ordinary = 1500

// beOrdinary makes a process that of an ordinary user.
func beOrdinary(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
}

// startReal starts one. Where the system forbids real nodes, the test is skipped.
func startReal(t testing.TB, how func(*exec.Cmd), changes ...func(*protocol.Config)) *realCluster {
	t.Helper()
	return startRealWith(t, how, nil, changes...)
}

// startRealWith is startReal with further options of the program's process.
func startRealWith(t testing.TB, how func(*exec.Cmd), options []func(*exec.Cmd), changes ...func(*protocol.Config)) *realCluster {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("isolated nodes need Linux")
	}
	c := newConfig(t)
	c.NodeKind, c.NodeProgram = protocol.RealNodes, nodeProgram()
	image := publish(t)
	registry, _, _ := strings.Cut(image, "/")
	c.Registries, c.Mirrors = []string{registry}, map[string]string{"mirrored.example": registry + "/test"}
	for _, change := range changes {
		change(&c)
	}
	if how != nil {
		if err := os.Chown(filepath.Dir(c.Dir), ordinary, ordinary); err != nil {
			t.Fatal(err)
		}
		c.NodeProgram = forOthers(t, c.NodeProgram, filepath.Join(filepath.Dir(c.NodeProgram), "slipway-container"))
		options = append(options, how, readable(t))
	}
	p := launch(t, c, options...)
	p.nextOrSkip("ready")
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(c.Dir, "logs", "nodes.log"))
			t.Logf("log of the nodes:\n%s", log[max(0, len(log)-4000):])
		}
	})
	return &realCluster{program: p, t: t, client: p.clients(), image: image, ns: metav1.NamespaceDefault, how: options}
}

// readable lets others read the file with the configuration and find the program.
func readable(t testing.TB) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		file := cmd.Args[len(cmd.Args)-1]
		for dir := filepath.Dir(file); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd.Path = forOthers(t, cmd.Path)
	}
}

// forOthers puts programs side by side where every user finds them, and returns the path of the first one.
func forOthers(t testing.TB, paths ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "programs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		to := filepath.Join(dir, filepath.Base(path))
		if os.Link(path, to) == nil {
			continue
		}
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, filepath.Base(paths[0]))
}

// nextOrSkip is next, for what a system may forbid.
func (p *program) nextOrSkip(kind string) {
	p.t.Helper()
	for {
		select {
		case e, ok := <-p.events:
			switch {
			case !ok:
				p.t.Fatalf("no event %q: %s", kind, p.stderr)
			case e.Event == kind:
				return
			case e.Event == "note" && strings.Contains(e.Text, "plain processes of this machine, because"):
				p.t.Skip(e.Text)
			case e.Event == "failed":
				p.t.Fatalf("%+v", e)
			}
		case <-time.After(testlimit.Hang):
			p.t.Fatalf("no event %q in time", kind)
		}
	}
}

// pod describes a pod with these arguments.
func (c *realCluster) pod(name string, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(5)),
			Containers:                    []corev1.Container{{Name: "main", Image: c.image, Args: args}},
		},
	}
}

func (c *realCluster) create(p *corev1.Pod) *corev1.Pod {
	c.t.Helper()
	created, err := c.client.CoreV1().Pods(c.ns).Create(c.t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return created
}

// await waits until a pod is as it should be.
func (c *realCluster) await(name string, is func(*corev1.Pod) bool) *corev1.Pod {
	c.t.Helper()
	var last *corev1.Pod
	late := time.After(testlimit.Hang)
	for pause := firstPause; ; pause = longer(pause) {
		p, err := c.client.CoreV1().Pods(c.ns).Get(c.t.Context(), name, metav1.GetOptions{})
		if err == nil {
			if last = p; is(p) {
				return p
			}
		}
		select {
		case <-time.After(pause):
		case <-late:
			c.t.Fatalf("pod %s is not as it should be: %+v", name, last)
		}
	}
}

// remove deletes a pod and waits until it is gone.
func (c *realCluster) remove(name string) {
	c.t.Helper()
	c.removeWith(name, metav1.DeleteOptions{})
}

func (c *realCluster) removeWith(name string, o metav1.DeleteOptions) {
	c.t.Helper()
	if err := c.client.CoreV1().Pods(c.ns).Delete(c.t.Context(), name, o); err != nil {
		c.t.Fatal(err)
	}
	eventually(c.t, "pod "+name+" is gone", func(ctx context.Context) (bool, error) {
		_, err := c.client.CoreV1().Pods(c.ns).Get(ctx, name, metav1.GetOptions{})
		return err != nil, nil
	})
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func succeeded(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded }

// log is what a container has written.
func (c *realCluster) log(pod string, o corev1.PodLogOptions) string {
	c.t.Helper()
	text, err := c.tryLog(pod, o)
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// tryLog is log where an error is no failure.
func (c *realCluster) tryLog(pod string, o corev1.PodLogOptions) (string, error) {
	text, err := c.client.CoreV1().Pods(c.ns).GetLogs(pod, &o).DoRaw(c.t.Context())
	return string(text), err
}

// try runs a command in a pod.
func (c *realCluster) try(pod string, stdin io.Reader, terminal bool, command ...string) (stdout, stderr string, err error) {
	c.t.Helper()
	request := c.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.ns).Name(pod).SubResource("exec").VersionedParams(
		&corev1.PodExecOptions{Command: command, Stdin: stdin != nil, Stdout: true, Stderr: !terminal, TTY: terminal}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(c.client.config, "GET", request.URL().String())
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), testlimit.Hang)
	defer cancel()
	var out, errs bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: &out, Stderr: &errs, Tty: terminal})
	return out.String(), errs.String(), err
}

// exec is try for what succeeds.
func (c *realCluster) exec(pod string, command ...string) string {
	c.t.Helper()
	stdout, stderr, err := c.try(pod, nil, false, command...)
	if err != nil {
		c.t.Fatalf("%v: %v: %s", command, err, stderr)
	}
	return stdout
}

// atOnce fails a test in which something took longer than it takes on a quiet machine, unless all commands in a pod do
// now.
func (c *realCluster) atOnce(what string, took, quiet time.Duration) {
	c.t.Helper()
	if took <= quiet {
		return
	}
	begin := time.Now()
	c.exec("client", "pod", "echo")
	if bar := beside(quiet, time.Since(begin)); took > bar {
		c.t.Errorf("%s after %s, later than after %s", what, took, bar)
	}
}

// testLogs: a pod's log is what it writes.
func testLogs(t *testing.T, c *realCluster) {
	begin := time.Now()
	c.running("first")
	t.Log("a pod is ready after", time.Since(begin))
	var got string
	defer func() { t.Logf("logged %q", got) }()
	eventually(t, "it tells what it does", func(context.Context) (bool, error) {
		got, _ = c.tryLog("first", corev1.PodLogOptions{})
		return got == "serving 8080\n", nil
	})
	for _, operation := range []string{"run_podsandbox", "create_container", "start_container"} {
		t.Logf("the runtime's %s takes %s", operation, c.meanDuration(operation))
	}
	begin = time.Now()
	c.remove("first")
	t.Log("a pod is deleted after", time.Since(begin))
}

func testExec(t *testing.T, c *realCluster) {
	c.running("first")
	begin := time.Now()
	if got := c.exec("first", "pod", "echo", "hello"); got != "hello\n" {
		t.Errorf("echo: %q", got)
	}
	t.Log("a command took", time.Since(begin))
	if got, _, err := c.try("first", strings.NewReader("text"), false, "pod", "cat"); got != "text" || err != nil {
		t.Errorf("cat: %q, %v", got, err)
	}
	if got, _, err := c.try("first", strings.NewReader(""), true, "pod", "terminal"); !strings.Contains(got, "terminal: true") || err != nil {
		t.Errorf("a terminal: %q, %v", got, err)
	}
	if got, _, err := c.try("first", nil, true, "pod", "env"); !strings.Contains(got, "TERM=xterm") || err != nil {
		t.Errorf("the environment beside a terminal: %q, %v", got, err)
	}
	if _, _, err := c.try("first", nil, false, "pod", "exit", "7"); err == nil || !strings.Contains(err.Error(), "exit code 7") {
		t.Errorf("exit 7: %v", err)
	}
	if _, stderr, err := c.try("first", nil, false, "sh"); err == nil || !strings.Contains(stderr+err.Error(), "not found") {
		t.Errorf("a program that does not exist: %v, %s", err, stderr)
	}
	if got := c.exec("first", "pod", "env"); !strings.Contains(got, "FROM_IMAGE=yes") || !strings.Contains(got, "HOSTNAME=first") || !strings.Contains(got, "KUBERNETES_SERVICE_HOST=10.0.0.1") {
		t.Errorf("environment: %s", got)
	}
}

func testIsolation(t *testing.T, c *realCluster) {
	p := c.pod("narrow", "serve")
	p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), FSGroup: new(int64(1234)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	c.create(p)
	c.running("first")
	c.await("narrow", ready)
	inFirst, inExec := c.exec("narrow", "pod", "cat", "/proc/1/status"), c.exec("narrow", "pod", "status")
	for what, status := range map[string]string{"the first process": inFirst, "a command": inExec} {
		for _, want := range []string{"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(status, want) {
				t.Errorf("%s: no %q in %s", what, want, status)
			}
		}
	}
	if _, _, err := c.try("narrow", nil, false, "pod", "write", "/tmp/x", "text"); err == nil {
		t.Error("a file system that is only to be read was written to")
	}
	if _, _, err := c.try("first", nil, false, "pod", "mount"); err == nil {
		t.Error("a container mounted something")
	}
	if got := c.exec("first", "pod", "ls", "/"); strings.Contains(got, "root\n") || strings.Contains(got, "boot\n") {
		t.Errorf("a container sees the host's files: %s", got)
	}
	if got := c.exec("first", "pod", "ls", "/proc"); strings.Count(got, "\n") > 100 {
		t.Errorf("a container sees other processes: %s", got)
	}
	c.remove("narrow")
}

// testOwners: changes of a file's owner succeed; where the system gives an ordinary user one id, without effect.
func testOwners(t *testing.T, c *realCluster) {
	p := c.pod("owners", "serve")
	p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64(0))}
	c.create(p)
	c.await("owners", ready)
	c.exec("owners", "pod", "write", "/tmp/file", "text")
	c.exec("owners", "pod", "chown", "/tmp/file", "7")
	wanted := []string{"0:0\n", "7:7\n"}
	if os.Getuid() == 0 {
		wanted = wanted[1:]
		if len(c.how) > 0 {
			wanted = []string{"0:0\n"}
		}
	}
	if got := c.exec("owners", "pod", "owner", "/tmp/file"); !slices.Contains(wanted, got) {
		t.Errorf("the file belongs to %q, want %q", got, wanted)
	}
	c.remove("owners")
}

// testAttach: a container with a terminal of its own answers who is attached to it.
func testAttach(t *testing.T, c *realCluster) {
	p := c.pod("attached", "cat")
	p.Spec.Containers[0].TTY, p.Spec.Containers[0].Stdin = true, true
	c.create(p)
	c.await("attached", ready)
	request := c.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.ns).Name("attached").SubResource("attach").VersionedParams(
		&corev1.PodAttachOptions{Stdin: true, Stdout: true, TTY: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(c.client.config, "GET", request.URL().String())
	if err != nil {
		t.Fatal(err)
	}
	in, typed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown := &lockedBuffer{}
	go func() {
		_ = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: shown, Tty: true})
	}()
	if _, err := typed.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	// The terminal shows what is typed, and then what the program answers.
	eventually(t, "the container answers", func(context.Context) (bool, error) {
		return strings.Count(shown.String(), "hello") == 2, nil
	})
	cancel()
	c.remove("attached")
}

// testDebug: a container is added to a pod that runs; one that wants to see another's processes is refused.
func testDebug(t *testing.T, c *realCluster) {
	c.running("second")
	for name, target := range map[string]string{"helper": "", "spy": "main"} {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			p := c.await("second", ready)
			p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, corev1.EphemeralContainer{
				TargetContainerName:      target,
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: c.image, Args: []string{"get", "http://127.0.0.1:8080/"}},
			})
			_, err := c.client.CoreV1().Pods(c.ns).UpdateEphemeralContainers(t.Context(), "second", p, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the helper has asked its neighbour", func(ctx context.Context) (bool, error) {
		text, err := c.client.CoreV1().Pods(c.ns).GetLogs("second", &corev1.PodLogOptions{Container: "helper"}).DoRaw(ctx)
		return err == nil && string(text) == "second", nil
	})
	c.await("second", func(p *corev1.Pod) bool {
		for _, s := range p.Status.EphemeralContainerStatuses {
			if s.Name == "spy" && s.State.Waiting != nil && strings.Contains(s.State.Waiting.Message, "kubectl debug --target") {
				return true
			}
		}
		return false
	})
}

// meanDuration is how long an operation of the container runtime takes, by the kubelet's own measurements.
func (c *realCluster) meanDuration(operation string) time.Duration {
	c.t.Helper()
	text, err := c.client.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/node-1/proxy/metrics").DoRaw(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	value := func(of string) (v float64) {
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, fmt.Sprintf("kubelet_runtime_operations_duration_seconds_%s{operation_type=%q} ", of, operation)); ok {
				v, _ = strconv.ParseFloat(strings.TrimSpace(rest), 64)
			}
		}
		return v
	}
	return time.Duration(value("sum") / value("count") * float64(time.Second))
}

func testPortForward(t *testing.T, c *realCluster) {
	c.running("first")
	roundTripper, upgrader, err := spdy.RoundTripperFor(c.client.config)
	if err != nil {
		t.Fatal(err)
	}
	at := c.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.ns).Name("first").SubResource("portforward").URL()
	stop, forwarded := make(chan struct{}), make(chan struct{})
	defer close(stop)
	f, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: roundTripper}, "POST", at), []string{"0:8080"}, stop, forwarded, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = f.ForwardPorts() }()
	<-forwarded
	ports, err := f.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local)); got != "first" {
		t.Errorf("the pod answers %q", got)
	}
}

// fetch gets a URL from this machine.
func fetch(t testing.TB, url string) string {
	t.Helper()
	client := &http.Client{Timeout: testlimit.Hang, Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext}}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

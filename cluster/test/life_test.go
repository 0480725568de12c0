package test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/version"
)

// stopBar is how long an end may take on a busy machine; the bounds inside the
// program are far below it.
const stopBar = 15 * time.Second

func TestHelloComesFirst(t *testing.T) {
	p := start(t, newConfig(t))
	hello := p.history[0]
	if hello.Event != "hello" || hello.Protocol != protocol.Number || hello.Kubernetes != version.Kubernetes || hello.PID != p.cmd.Process.Pid {
		t.Errorf("first event: %+v", hello)
	}
	serverVersion, err := p.clients().Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := serverVersion.GitVersion, "v"+version.Kubernetes; got != want {
		t.Errorf("the API server says %s, want %s", got, want)
	}
}

func TestEndOfStdinStops(t *testing.T) {
	p := start(t, newConfig(t))
	watch, err := p.clients().CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	begin := time.Now()
	p.stop()
	if took := time.Since(begin); took > stopBar {
		t.Errorf("stopping with an open watch took %v", took)
	}
	if reason := p.next("stopped").Reason; reason != string(protocol.ByStdin) {
		t.Errorf("reason %q", reason)
	}
}

func TestSignalStops(t *testing.T) {
	p := start(t, newConfig(t))
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if reason := p.next("stopped").Reason; reason != string(protocol.BySignal) {
		t.Errorf("reason %q", reason)
	}
	if status := p.waitExit(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

func TestStopWhileStarting(t *testing.T) {
	p := launch(t, newConfig(t))
	p.next("progress")
	begin := time.Now()
	p.stop()
	if took := time.Since(begin); took > stopBar {
		t.Errorf("stopping took %v", took)
	}
	p.next("stopped")
}

func TestRequestsOnSocketWithLateClient(t *testing.T) {
	p := start(t, newConfig(t))
	late := p.dial()
	late.next("hello")
	ready := late.next("ready")
	late.send(`{"id": 7, "method": "status"}`)
	reply := late.next("reply")
	var status protocol.Status
	if err := json.Unmarshal(reply.Result, &status); err != nil {
		t.Fatal(err)
	}
	if reply.ID != 7 || !status.Ready || status.Server != ready.Server || status.PID != p.cmd.Process.Pid {
		t.Errorf("reply %d: %+v", reply.ID, status)
	}
	if len(status.Components) != 5 {
		t.Errorf("components: %+v", status.Components)
	}
	for _, c := range status.Components {
		if c.State != protocol.StateReady {
			t.Errorf("%s is %s", c.Name, c.State)
		}
	}
	late.send(`{"id": 8, "method": "dance"}`)
	if reply := late.next("reply"); reply.ID != 8 || reply.Error == "" {
		t.Errorf("an unknown method: %+v", reply)
	}
	late.send(`{"id": 9, "method": "stop"}`)
	if reply := late.next("reply"); reply.ID != 9 || reply.Error != "" {
		t.Errorf("stop: %+v", reply)
	}
	if reason := late.next("stopped").Reason; reason != string(protocol.ByRequest) {
		t.Errorf("reason %q", reason)
	}
	if status := p.waitExit(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if _, err := os.Stat(p.config.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestSecondClusterInTheSameFolderFails(t *testing.T) {
	p := start(t, newConfig(t))
	second := launch(t, p.config)
	failed := second.next("failed")
	if !strings.Contains(failed.Error, p.config.Dir) || failed.Hint == "" {
		t.Errorf("failed: %+v", failed)
	}
	if status := second.waitExit(); status != 1 {
		t.Errorf("exit status %d", status)
	}
	if _, err := p.clients().CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("the first cluster suffers: %v", err)
	}
}

func TestPortInUseFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	config := newConfig(t)
	config.Port = listener.Addr().(*net.TCPAddr).Port
	p := launch(t, config)
	failed := p.next("failed")
	if failed.Component != protocol.APIServer || !strings.Contains(failed.Error, fmt.Sprint(config.Port)) || !strings.Contains(failed.Hint, "port") {
		t.Errorf("failed: %+v", failed)
	}
	if status := p.waitExit(); status != 1 {
		t.Errorf("exit status %d", status)
	}
}

func TestChosenPortIsUsed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := newConfig(t)
	config.Port = listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	p := launch(t, config)
	if got, want := p.next("ready").Server, fmt.Sprintf("https://127.0.0.1:%d", config.Port); got != want {
		t.Errorf("server %s, want %s", got, want)
	}
}

func TestUnusableFolderFails(t *testing.T) {
	config := newConfig(t)
	if err := os.WriteFile(filepath.Dir(config.Dir)+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	config.Dir = filepath.Join(filepath.Dir(config.Dir), "file", "state")
	failed := launch(t, config).next("failed")
	if failed.Component != protocol.Configuration || !strings.Contains(failed.Error, config.Dir) {
		t.Errorf("failed: %+v", failed)
	}
}

func TestFolderWithoutPermissionFails(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	config := newConfig(t)
	if err := os.Mkdir(config.Dir, 0o500); err != nil {
		t.Fatal(err)
	}
	failed := launch(t, config).next("failed")
	if failed.Component != protocol.Configuration || failed.Hint == "" {
		t.Errorf("failed: %+v", failed)
	}
}

func TestBadConfigurationFails(t *testing.T) {
	for name, change := range map[string]func(*protocol.Config){
		"another protocol": func(c *protocol.Config) { c.Protocol = 99 },
		"relative folder":  func(c *protocol.Config) { c.Dir = "here" },
		"bad taint":        func(c *protocol.Config) { c.Nodes = []protocol.Node{{Name: "a", Taints: []string{"x"}}} },
		"bad capacity": func(c *protocol.Config) {
			c.Nodes = []protocol.Node{{Name: "a", Capacity: map[string]string{"cpu": "many"}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := newConfig(t)
			change(&config)
			p := launch(t, config)
			if failed := p.next("failed"); failed.Component != protocol.Configuration || failed.Hint == "" {
				t.Errorf("failed: %+v", failed)
			}
			if status := p.waitExit(); status != 1 {
				t.Errorf("exit status %d", status)
			}
		})
	}
}

func TestUnknownAPIServerFlagFails(t *testing.T) {
	config := newConfig(t)
	config.APIServerFlags = []string{"--no-such-flag=1"}
	failed := launch(t, config).next("failed")
	if failed.Component != protocol.APIServer || !strings.Contains(failed.Error, "no-such-flag") || failed.Hint == "" {
		t.Errorf("failed: %+v", failed)
	}
}

// TestOwnFlagsFail passes flags that would change nothing: what the cluster says by other means.
func TestOwnFlagsFail(t *testing.T) {
	for _, flag := range []string{"--secure-port=7777", "--bind-address=0.0.0.0", "--etcd-servers=http://127.0.0.1:1"} {
		t.Run(flag, func(t *testing.T) {
			config := newConfig(t)
			config.APIServerFlags = []string{flag}
			name, _, _ := strings.Cut(flag, "=")
			failed := launch(t, config).next("failed")
			if failed.Component != protocol.APIServer || !strings.Contains(failed.Error, name+" cannot be set: ") {
				t.Errorf("failed: %+v", failed)
			}
		})
	}
}

// TestGivingUpFails passes a flag that the API server looks at late, and then ends the process over.
func TestGivingUpFails(t *testing.T) {
	config := newConfig(t)
	config.APIServerFlags = []string{"--endpoint-reconciler-type=pigeon"}
	p := launch(t, config)
	failed, reason := p.next("failed"), "Reconciler not implemented: pigeon"
	if failed.Component != protocol.APIServer || failed.Error != reason || failed.Hint == "" {
		t.Errorf("failed: %+v", failed)
	}
	if status := p.waitExit(); status != 1 {
		t.Errorf("exit status %d", status)
	}
	log, err := os.ReadFile(filepath.Join(config.Dir, "logs", "apiserver.log"))
	if err != nil || !strings.Contains(string(log), reason) {
		t.Errorf("the log of the API server is %q, %v", log, err)
	}
}

func TestThrowAwayClusterStartsAfterKill(t *testing.T) {
	config := newConfig(t)
	p := start(t, config)
	makeConfigMap(t, p.clients(), "left-behind")
	kill(t, p)
	if _, err := configMap(t, start(t, config).clients(), "left-behind"); !apierrors.IsNotFound(err) {
		t.Errorf("old data: %v", err)
	}
}

func TestDurableDataSurvives(t *testing.T) {
	config := newConfig(t)
	config.Durable = true
	p := start(t, config)
	makeConfigMap(t, p.clients(), "before-kill")
	before, err := os.ReadFile(filepath.Join(config.Dir, "pki", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	kill(t, p)

	p = start(t, config)
	if _, err := configMap(t, p.clients(), "before-kill"); err != nil {
		t.Errorf("lost by kill: %v", err)
	}
	makeConfigMap(t, p.clients(), "before-stop")
	p.stop()

	p = start(t, config)
	for _, name := range []string{"before-kill", "before-stop"} {
		if _, err := configMap(t, p.clients(), name); err != nil {
			t.Errorf("lost by stop: %v", err)
		}
	}
	after, err := os.ReadFile(filepath.Join(config.Dir, "pki", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the cluster has a new authority")
	}
}

func makeConfigMap(t *testing.T, c clients, name string) {
	t.Helper()
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func configMap(t *testing.T, c clients, name string) (*corev1.ConfigMap, error) {
	t.Helper()
	return c.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
}

func kill(t *testing.T, p *program) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.waitExit()
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	config := newConfig(t)
	start(t, config)
	if err := filepath.WalkDir(config.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // etcd's temporary files come and go
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has mode %o", path, mode)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// orphanConfig makes the test binary a parent that starts a cluster and waits to be killed.
const orphanConfig = "SLIPWAY_TEST_ORPHAN_CONFIG"

// beOrphaner starts a cluster, says when it is ready and waits for its end.
func beOrphaner(config string) {
	cmd := exec.Command(os.Getenv("SLIPWAY_TEST_ORPHAN_PROGRAM"), "serve", "--stdio", "--config", config)
	if _, err := cmd.StdinPipe(); err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), `"event":"ready"`) {
			fmt.Println("ready")
		}
	}
	_ = cmd.Wait()
}

func TestKilledParentEndsTheCluster(t *testing.T) {
	config := newConfig(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), orphanConfig+"="+writeConfig(t, config), "SLIPWAY_TEST_ORPHAN_PROGRAM="+programPath)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the parent says %q, %v", line, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	lock := flock.New(filepath.Join(config.Dir, "lock"))
	defer lock.Close()
	eventually(t, "the cluster ends and its lock is free", func(context.Context) (bool, error) { return lock.TryLock() })
}

func TestWithoutControllers(t *testing.T) {
	config := newConfig(t)
	no := false
	config.Controllers = &no
	p := start(t, config)
	nodes, err := p.clients().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("%d nodes, %v", len(nodes.Items), err)
	}
	p.stop()
	for e := range p.events {
		if e.Event == "progress" && e.Component != protocol.Etcd && e.Component != protocol.APIServer {
			t.Errorf("component %s", e.Component)
		}
	}
}

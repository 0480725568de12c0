package test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

func TestStopWhileStarting(t *testing.T) {
	p := launch(t, newConfig(t))
	p.next("progress")
	p.stop()
	p.next("stopped")
}

// testLateClient: who connects to the socket later learns the same, and may ask and stop the program.
func testLateClient(t *testing.T, p *program) {
	late := p.dial(t)
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

// TestThrowAway: a cluster that was killed starts without its data. A signal stops it.
func TestThrowAway(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	config.APIServerFlags = []string{"--etcd-compaction-interval=1s"}
	p := start(t, config)
	makeConfigMap(t, p.clients(), "left-behind")
	kill(t, p)
	p = start(t, config)
	if _, err := configMap(t, p.clients(), "left-behind"); !apierrors.IsNotFound(err) {
		t.Errorf("old data: %v", err)
	}
	t.Run("history", func(t *testing.T) { testHistory(t, p) })
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

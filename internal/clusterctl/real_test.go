//go:build unix

package clusterctl_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/testlimit"
)

// newRealDock makes a place whose clusters run the real program, which `make test` compiles and names.
func newRealDock(t *testing.T) *dock {
	t.Helper()
	program := os.Getenv("SLIPWAY_CLUSTER")
	if program == "" {
		t.Skip("SLIPWAY_CLUSTER names no cluster program; `make test` does")
	}
	d := &dock{t: t, state: filepath.Join(t.TempDir(), "s"), kube: filepath.Join(t.TempDir(), "config"), log: &events{}}
	env := map[string]string{"SLIPWAY_CLUSTER": program, "SLIPWAY_STATE": d.state, "KUBECONFIG": d.kube, "SLIPWAY_CACHE": t.TempDir()}
	d.Control = clusterctl.New(func(key string) string { return env[key] }, d.log)
	d.Hurry(testlimit.Hang, testlimit.Hang)
	t.Cleanup(d.end)
	return d
}

// wantAPI wants the cluster behind a kubeconfig to have namespaces and to accept one.
func wantAPI(t *testing.T, kubeconfig string) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("namespaces: %v, %v", list, err)
	}
	return client
}

func TestRealLife(t *testing.T) {
	d := newRealDock(t)
	s := d.start(clusterctl.Options{})
	wantAPI(t, d.kube)
	if again := d.start(clusterctl.Options{}); !again.Already || again.PID != s.PID {
		t.Errorf("second start: %+v", again)
	}
	if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, s.PID)
	d.want("", clusterctl.Died)
	s = d.start(clusterctl.Options{})
	wantAPI(t, d.kube)
	begin := time.Now()
	if _, err := d.Stop(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	t.Logf("stopped after %s", time.Since(begin))
	gone(t, s.PID)
	d.want("", clusterctl.Stopped)
}

func TestRealPortInUse(t *testing.T) {
	d := newRealDock(t)
	s := d.startNamed("a", clusterctl.Options{})
	var port int
	if _, text, ok := strings.Cut(s.Server, "127.0.0.1:"); ok {
		for _, digit := range text {
			port = port*10 + int(digit-'0')
		}
	}
	_, err := d.Start(t.Context(), "b", clusterctl.Options{Spec: clusterctl.Spec{Port: port}})
	if e := userError(t, err); e.Where != "--port" {
		t.Errorf("error: %+v", e)
	}
	d.want("b", clusterctl.Stopped)
}

// TestRealInterrupt cancels starts further and further along and wants no process to stay.
func TestRealInterrupt(t *testing.T) {
	d := newRealDock(t)
	for steps := 1; ; steps += 3 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		d.log.seen = func(e report.Event) {
			if _, ok := e.(report.Step); ok {
				if seen++; seen == steps {
					cancel()
				}
			}
		}
		_, err := d.Start(ctx, "", clusterctl.Options{Timeout: testlimit.Hang})
		cancel()
		if err == nil {
			break // more steps than there are: it became ready
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		d.want("", clusterctl.Stopped)
	}
}

func TestRealTie(t *testing.T) {
	d := newRealDock(t)
	s, err := d.Tie(t.Context(), "", clusterctl.Options{Timeout: testlimit.Hang, Spec: clusterctl.Spec{Controllers: new(false)}})
	if err != nil {
		t.Fatal(err)
	}
	wantAPI(t, s.Kubeconfig)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestRealAssets asks the program under the names that envtest uses.
func TestRealAssets(t *testing.T) {
	d := newRealDock(t)
	dir, err := d.Assets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"kube-apiserver": {"--version"}, "etcd": {"--version"}, "kubectl": {"version", "--client"}} {
		out, err := exec.Command(filepath.Join(dir, name), args...).CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

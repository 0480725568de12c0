package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster is an embedded cluster in which cert-manager runs.
type cluster struct {
	client.Client // as administrator

	config     *rest.Config
	kubeconfig string
	slipway    string
	env        []string
}

// newCluster starts a cluster and cert-manager's controllers.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	home := t.TempDir()
	c := &cluster{slipway: filepath.Join(home, "slipway"), kubeconfig: filepath.Join(home, "kubeconfig")}
	c.env = []string{"SLIPWAY_STATE=" + filepath.Join(home, "state"), "KUBECONFIG=" + c.kubeconfig}
	output(t, command(t, "../..", nil, "go", "build", "-o", c.slipway, "./cmd/slipway"))
	output(t, command(t, home, c.env, c.slipway, "cluster", "start"))
	t.Cleanup(func() { // the test's context has ended
		stop := exec.CommandContext(context.WithoutCancel(t.Context()), c.slipway, "cluster", "stop")
		stop.Env = append(os.Environ(), c.env...)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop the cluster: %v\n%s", err, out)
		}
	})
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.kubeconfig); err != nil {
		t.Fatal(err)
	}
	types, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	if c.Client, err = client.New(c.config, client.Options{Scheme: types}); err != nil {
		t.Fatal(err)
	}
	c.runCertManager(t)
	return c
}

// runCertManager installs cert-manager's CRDs, as its module has them, and starts its controllers.
func (c *cluster) runCertManager(t *testing.T) {
	t.Helper()
	module := output(t, command(t, ".", nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager"))
	definitions := []string{"-f", filepath.Join(strings.TrimSpace(module), "deploy", "crds"), "-f", "testdata/servicemonitors.yaml"}
	c.kubectl(t, append([]string{"apply", "--server-side"}, definitions...)...)
	c.kubectl(t, append([]string{"wait", "--for=condition=Established"}, definitions...)...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start(t, command(t, ".", append(c.env, asController+"=1"), self))
}

func (c *cluster) kubectl(t *testing.T, args ...string) {
	t.Helper()
	output(t, command(t, ".", c.env, c.slipway, append([]string{"kubectl"}, args...)...))
}

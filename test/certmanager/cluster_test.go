package certmanager

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kinds "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster is an embedded cluster whose pods run.
type cluster struct {
	client.Client // as administrator

	home    string // a folder for this and that
	slipway string // the command
	env     []string
}

// newCluster starts a cluster with a real node.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("isolated nodes need Linux")
	}
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	c := &cluster{home: home, slipway: filepath.Join(home, "slipway"), env: []string{"SLIPWAY_STATE=" + filepath.Join(home, "state"),
		"KUBECONFIG=" + kubeconfig, "SLIPWAY_SOURCE="}}
	// With trimmed paths slipway does not know where its sources are, as one that was installed.
	output(t, command(t, "../..", nil, "go", "build", "-trimpath", "-o", home, "./cmd/slipway"))
	output(t, command(t, home, c.env, c.slipway, "cluster", "start", "--nodes", "real"))
	t.Cleanup(func() { // the test's context has ended
		if t.Failed() {
			t.Log(c.kubectlAfter("get", "pods", "--all-namespaces", "-o", "wide"), c.kubectlAfter("get", "events", "--all-namespaces"))
		}
		stop := exec.CommandContext(context.WithoutCancel(t.Context()), c.slipway, "cluster", "stop")
		stop.Env = append(os.Environ(), c.env...)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop the cluster: %v\n%s", err, out)
		}
	})
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	types := kinds.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(types), apiextensionsv1.AddToScheme(types), certmanagerv1.AddToScheme(types)); err != nil {
		t.Fatal(err)
	}
	if c.Client, err = client.New(config, client.Options{Scheme: types}); err != nil {
		t.Fatal(err)
	}
	return c
}

// kubectl is what kubectl writes, which must succeed.
func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, command(t, ".", c.env, c.slipway, append([]string{"kubectl"}, args...)...))
}

// kubectlAfter is what kubectl writes, when the test has ended.
func (c *cluster) kubectlAfter(args ...string) string {
	ctl := exec.Command(c.slipway, append([]string{"kubectl"}, args...)...)
	ctl.Env = append(os.Environ(), c.env...)
	out, _ := ctl.CombinedOutput()
	return string(out)
}

// image builds an image of a program and puts it into the cluster.
func (c *cluster) image(t *testing.T, dir, name string, program ...string) {
	t.Helper()
	env := append(c.env, "SLIPWAY_CACHE="+filepath.Join(c.home, "images"))
	output(t, command(t, dir, env, c.slipway, append([]string{"image", "build", "-t", name}, program...)...))
	output(t, command(t, dir, env, c.slipway, "image", "load", name))
}

// token is one of a service account.
func (c *cluster) token(t *testing.T, account client.ObjectKey) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name}}
	if err := c.SubResource("token").Create(t.Context(), of, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func (c *cluster) create(t *testing.T, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

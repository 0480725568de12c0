package envtest_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/slipway-dev/slipway/bench/assets"
	"github.com/slipway-dev/slipway/bench/widget"
)

// folders are the programs of both contenders.
type folders struct{ ours, stock string }

func build(t *testing.T) folders {
	t.Helper()
	ours, err := assets.Ours(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stock, err := assets.Stock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return folders{ours, stock}
}

func TestSuiteRunsOnBoth(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	programs := build(t)
	for name, folder := range map[string]string{"ours": programs.ours, "stock": programs.stock} {
		t.Run(name, func(t *testing.T) {
			environment := start(t, folder)
			t.Run("version", func(t *testing.T) { serverVersion(t, environment.Config) })
			t.Run("custom resource", func(t *testing.T) { customResource(t, environment.Config) })
			t.Run("pod without controllers", func(t *testing.T) { podWithoutControllers(t, environment.Config) })
			t.Run("namespace stays terminating", func(t *testing.T) { namespaceStays(t, environment.Config) })
			t.Run("user without rights", func(t *testing.T) { userWithoutRights(t, environment) })
			t.Run("kubectl", func(t *testing.T) { kubectl(t, environment) })
		})
	}
}

// TestSameWords compares what the programs say of themselves.
func TestSameWords(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	programs := build(t)
	for _, command := range []string{
		"kube-apiserver --help", "kube-apiserver --version", "kube-apiserver --no-such-flag", "kube-apiserver surplus",
		"kube-apiserver --admission-control=AlwaysAdmit surplus", "kube-apiserver --help surplus", "kube-apiserver -h --no-such-flag",
		"etcd --help", "etcd --version", "etcd gateway --help",
		"kubectl --help", "kubectl get --help", "kubectl version --client", "kubectl no-such-command", "kubectl get --no-such-flag",
	} {
		t.Run(command, func(t *testing.T) {
			ours, stock := say(t, programs.ours, command), say(t, programs.stock, command)
			if ours != stock {
				t.Errorf("ours:\n%s\nstock:\n%s", ours, stock)
			}
		})
	}
}

// say runs a program of the folder and tells its output and status.
func say(t *testing.T, folder, command string) string {
	t.Helper()
	words := strings.Fields(command)
	cmd := exec.CommandContext(t.Context(), filepath.Join(folder, words[0]), words[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("status %d\nstdout:\n%s\nstderr:\n%s", cmd.ProcessState.ExitCode(), &stdout, &stderr)
}

func start(t *testing.T, folder string) *envtest.Environment {
	t.Helper()
	e := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD()}, UseExistingCluster: new(bool)}
	e.ControlPlane.GetAPIServer().Path = filepath.Join(folder, "kube-apiserver")
	e.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(folder, "etcd")}
	e.ControlPlane.KubectlPath = filepath.Join(folder, "kubectl")
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	if _, err := e.Start(); err != nil {
		t.Fatal(err)
	}
	return e
}

func serverVersion(t *testing.T, config *rest.Config) {
	v, err := kubernetes.NewForConfigOrDie(config).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	want, err := assets.KubernetesVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.GitVersion != want || !strings.HasPrefix(want, "v"+v.Major+"."+v.Minor+".") {
		t.Errorf("version %s.%s %s, want %s", v.Major, v.Minor, v.GitVersion, want)
	}
}

func customResource(t *testing.T, config *rest.Config) {
	c := newClient(t, config)
	if err := c.Create(t.Context(), newWidget("good", int64(3))); err != nil {
		t.Errorf("create: %v", err)
	}
	if err := c.Create(t.Context(), newWidget("bad", "three")); !apierrors.IsInvalid(err) {
		t.Errorf("create against the schema: %v", err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(widget.GroupVersionKind)
	if err := c.List(t.Context(), list, client.InNamespace("default")); err != nil || len(list.Items) != 1 {
		t.Errorf("list: %d items, %v", len(list.Items), err)
	}
}

// podWithoutControllers shows that envtest turns the ServiceAccount admission off, and that nothing schedules.
func podWithoutControllers(t *testing.T, config *rest.Config) {
	c := newClient(t, config)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName != "" {
		t.Errorf("phase %s on node %q", pod.Status.Phase, pod.Spec.NodeName)
	}
}

// namespaceStays shows that nothing finalizes namespaces: users of envtest know that, and their tests may count on it.
func namespaceStays(t *testing.T, config *rest.Config) {
	c := newClient(t, config)
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}
	if err := c.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(n), n); err != nil || n.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("phase %s, %v", n.Status.Phase, err)
	}
}

func userWithoutRights(t *testing.T, e *envtest.Environment) {
	user, err := e.AddUser(envtest.User{Name: "nobody"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	roles := &rbacv1.ClusterRoleList{}
	if err := newClient(t, user.Config()).List(t.Context(), roles); !apierrors.IsForbidden(err) {
		t.Errorf("list: %v", err)
	}
	if err := newClient(t, e.Config).List(t.Context(), roles); err != nil || len(roles.Items) == 0 {
		t.Errorf("the administrator lists %d roles, %v", len(roles.Items), err)
	}
}

func kubectl(t *testing.T, e *envtest.Environment) {
	user, err := e.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	k, err := user.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := k.Run("get", "widgets", "-o", "name")
	if err != nil {
		msg := new(bytes.Buffer)
		_, _ = msg.ReadFrom(stderr)
		t.Fatalf("%v\n%s", err, msg)
	}
	out := new(bytes.Buffer)
	_, _ = out.ReadFrom(stdout)
	if out.String() != "widget.example.com/good\n" {
		t.Errorf("kubectl get: %q", out)
	}
}

func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newWidget is valid when its size is a number.
func newWidget(name string, size any) *unstructured.Unstructured {
	w := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size}}}
	w.SetGroupVersionKind(widget.GroupVersionKind)
	w.SetNamespace("default")
	w.SetName(name)
	return w
}

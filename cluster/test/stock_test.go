package test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestStockServerBringsControllers runs a Job on the stock-named programs, to which SLIPWAY_CONTROLLERS gives
// controllers and a node. The kinds that SLIPWAY_DEFINITIONS names are served when the server is ready; one that the
// server refuses keeps it from nothing else.
func TestStockServerBringsControllers(t *testing.T) {
	t.Parallel()
	c := startStock(t, "SLIPWAY_CONTROLLERS=1", "SLIPWAY_DEFINITIONS="+writeDefinitions(t))
	list, err := c.Discovery().ServerResourcesForGroupVersion("example.com/v1") // at once: the server is ready
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range list.APIResources {
		names = append(names, r.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"gadgets", "widgets"}) {
		t.Errorf("the server serves %v", names)
	}
	node, err := c.CoreV1().Nodes().Get(t.Context(), "simulated-1", metav1.GetOptions{}) // at once: the server is ready
	if err != nil {
		t.Fatal(err)
	}
	ready := false
	for _, condition := range node.Status.Conditions {
		ready = ready || condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	}
	if !ready {
		t.Errorf("the node is not ready: %+v", node.Status.Conditions)
	}
	makeJob(t, c)
	eventually(t, "the Job completes", func(ctx context.Context) (bool, error) {
		job, err := c.BatchV1().Jobs("default").Get(ctx, "work", metav1.GetOptions{})
		return err == nil && job.Status.Succeeded == 1, err
	})
}

// testStockAlone shows that without the variable the server is what envtest expects: nobody acts on objects.
func testStockAlone(t *testing.T, c clients) {
	makeJob(t, c)
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("nodes %v, %v", nodes.Items, err)
	}
	// The server is through with all its hooks, so that controllers would have been started, and the namespace is older
	// than the Job.
	job, err := c.BatchV1().Jobs("default").Get(t.Context(), "work", metav1.GetOptions{})
	if err != nil || job.Status.StartTime != nil {
		t.Errorf("the Job was started: %+v, %v", job, err)
	}
	if _, err := c.CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the service account default: %v", err)
	}
}

// writeDefinitions writes the definitions of three kinds, one of which the server refuses.
func writeDefinitions(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "definitions.yaml")
	text := ""
	for _, plural := range []string{"refuseds", "gadgets", "widgets"} {
		scope := "Namespaced"
		if plural == "refuseds" {
			scope = "Everywhere"
		}
		text += fmt.Sprintf(`---
{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "%[1]s.example.com"}, "spec": {
  "group": "example.com", "scope": "%[2]s", "names": {"plural": "%[1]s", "kind": "%[1]s"},
  "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
`, plural, scope)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func makeJob(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}}}
	if _, err := c.BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// startStock starts etcd and kube-apiserver by those names, as envtest does, and returns when the server is ready.
func startStock(t *testing.T, environment ...string) clients {
	t.Helper()
	dir, ports := t.TempDir(), freePorts(t, 3)
	store, peer, api := ports[0], ports[1], ports[2]
	key, tokens := filepath.Join(dir, "sa.key"), filepath.Join(dir, "tokens")
	writeKey(t, key)
	if err := os.WriteFile(tokens, []byte(`secret,admin,admin,"system:masters"`), 0o600); err != nil {
		t.Fatal(err)
	}
	etcd := fmt.Sprintf("http://127.0.0.1:%d", store)
	launchStock(t, nil, "etcd", "--data-dir="+filepath.Join(dir, "etcd"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", peer), "--unsafe-no-fsync")
	launchStock(t, environment, "kube-apiserver", "--etcd-servers="+etcd, "--cert-dir="+filepath.Join(dir, "certs"), "--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", api), "--token-auth-file="+tokens, "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://127.0.0.1/", "--service-account-key-file="+key, "--service-account-signing-key-file="+key,
		"--disable-admission-plugins=ServiceAccount", "--allow-privileged=true")
	c := clientsFor(&rest.Config{
		Host: fmt.Sprintf("https://127.0.0.1:%d", api), BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	})
	eventually(t, "the stock server is ready", func(ctx context.Context) (bool, error) {
		var status int
		c.Discovery().RESTClient().Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).StatusCode(&status)
		return status == http.StatusOK, nil
	})
	return c
}

// launchStock runs the program under another name until the test ends.
func launchStock(t *testing.T, environment []string, name string, args ...string) {
	t.Helper()
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(programPath, link); err != nil {
		t.Fatal(err)
	}
	cmd, output := exec.Command(link, args...), &lockedBuffer{}
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", name, output)
		}
	})
}

// freePorts are ports of loopback that nobody listens on. They differ from each other.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close() // all of them at the end
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func writeKey(t *testing.T, file string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	data := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

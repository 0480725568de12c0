package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// thisMachine stands for 127.0.0.1 in EndpointSlices.
const thisMachine = "10.127.255.254"

// pod is the manager's: a process of this machine, for which the test does what a kubelet does.
type pod struct {
	volume  string // where the certificate's Secret is seen
	webhook int    // ports on 127.0.0.1
	metrics int
	service *relay // what the Service of the webhooks leads to
}

// runPod runs the manager as its Deployment says, with the token of its service account, and leads its webhooks' Service to it.
func (o operator) runPod(t *testing.T, program string) pod {
	t.Helper()
	container, volume := containerOf(t, o.manifests)
	p := pod{volume: t.TempDir(), webhook: freePort(t), metrics: freePort(t)}
	var args []string
	for _, arg := range container.Args {
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "--leader-elect": // the namespace for its Lease is told to pods only
			continue
		case "--health-probe-bind-address":
			arg = name + "=127.0.0.1:0"
		case "--metrics-bind-address":
			arg = fmt.Sprintf("%s=127.0.0.1:%d", name, p.metrics)
		}
		args = append(args, strings.ReplaceAll(arg, container.VolumeMounts[0].MountPath, p.volume))
	}
	go p.mount(t.Context(), o, client.ObjectKey{Namespace: o.namespace, Name: volume.Secret.SecretName})
	env := []string{"KUBECONFIG=" + o.kubeconfigOf(t, o.key("controller-manager")), "WEBHOOK_PORT=" + strconv.Itoa(p.webhook)}
	start(t, command(t, ".", env, program, args...))
	p.service = newRelay(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(p.webhook)))
	o.leadHere(t, o.key("webhook-service"), "webhook", p.service.port)
	return p
}

// containerOf is the manager's container and its volume.
func containerOf(t *testing.T, manifests []*unstructured.Unstructured) (corev1.Container, corev1.Volume) {
	t.Helper()
	var deployment appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(find(t, manifests, "Deployment").Object, &deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template.Spec
	return pod.Containers[0], pod.Volumes[0]
}

func find(t *testing.T, manifests []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	for _, object := range manifests {
		if object.GetKind() == kind {
			return object
		}
	}
	t.Fatalf("config/default has no %s", kind)
	return nil
}

// mount shows a Secret in the volume, as a kubelet does, until ctx ends: all files change at once.
func (p pod) mount(ctx context.Context, c client.Client, key client.ObjectKey) {
	seen := ""
	for ctx.Err() == nil {
		var secret corev1.Secret
		if c.Get(ctx, key, &secret) == nil && secret.ResourceVersion != seen && p.show(&secret) == nil {
			seen = secret.ResourceVersion
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// show swaps a link to a folder, through which each file is seen.
func (p pod) show(secret *corev1.Secret) error {
	at := func(name string) string { return filepath.Join(p.volume, name) }
	version := "..v" + secret.ResourceVersion
	if err := os.MkdirAll(at(version), 0o700); err != nil {
		return err
	}
	for name, content := range secret.Data {
		if err := os.WriteFile(filepath.Join(at(version), name), content, 0o600); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join("..data", name), at(name)); err != nil && !os.IsExist(err) {
			return err
		}
	}
	_ = os.Remove(at("..next"))
	if err := os.Symlink(version, at("..next")); err != nil {
		return err
	}
	return os.Rename(at("..next"), at("..data"))
}

// leadHere adds a port of this machine to a Service's endpoints. Where nodes are simulated, those of its pods lead nowhere.
func (c *cluster) leadHere(t *testing.T, service client.ObjectKey, portName string, port int) {
	t.Helper()
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: service.Namespace, Name: service.Name + "-here", Labels: map[string]string{discoveryv1.LabelServiceName: service.Name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{thisMachine}}},
		Ports:       []discoveryv1.EndpointPort{{Name: &portName, Port: new(int32(port))}},
	}
	if err := c.Create(t.Context(), slice); err != nil {
		t.Fatal(err)
	}
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

// kubeconfigOf is a file with which one is a service account.
func (c *cluster) kubeconfigOf(t *testing.T, account client.ObjectKey) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: c.token(t, account)}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	name := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, name); err != nil {
		t.Fatal(err)
	}
	return name
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

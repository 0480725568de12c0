package certmanager

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operatorImage is what the operator's pods run.
const operatorImage = "cronjob:v1"

// project is the CronJob operator with everything on.
type project struct {
	dir       string
	slipway   string // the command
	env       []string
	prefix    string // of all names
	namespace string
}

// key is the name that something gets in the cluster.
func (p project) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: p.namespace, Name: p.prefix + name}
}

// host is the name by which a Service is called.
func (p project) host(service string) string {
	return p.prefix + service + "." + p.namespace + ".svc"
}

// rename gives all that is deployed another prefix, and puts it into another namespace.
func (p *project) rename(t *testing.T, prefix, namespace string) {
	t.Helper()
	p.edit(t, "config/default/kustomization.yaml", "namespace: "+p.namespace+"\n", "namespace: "+namespace+"\n",
		"namePrefix: "+p.prefix+"\n", "namePrefix: "+prefix+"\n")
	p.prefix, p.namespace = prefix, namespace
}

// newProject copies the example and has two replicas, a certificate of cert-manager's for webhooks and metrics, a
// ServiceMonitor and a NetworkPolicy.
func newProject(t *testing.T, c *cluster) project {
	t.Helper()
	p := project{dir: filepath.Join(t.TempDir(), "op"), slipway: c.slipway, env: c.env, prefix: "cronjob-", namespace: "cronjob-system"}
	if err := os.CopyFS(p.dir, os.DirFS("../../examples/cronjob")); err != nil {
		t.Fatal(err)
	}
	p.run(t, "edit", "--certs", "cert-manager", "--enable", "prometheus,metrics-tls,network-policy")
	p.edit(t, "config/manager/manager.yaml", "replicas: 1", "replicas: 2")
	c.image(t, p.dir, operatorImage)
	return p
}

// run runs slipway in the project.
func (p project) run(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, command(t, p.dir, p.env, p.slipway, args...))
}

// deploy deploys the project, and returns what that is.
func (p project) deploy(t *testing.T) (manifests []*unstructured.Unstructured) {
	t.Helper()
	p.run(t, "deploy", "--image", operatorImage, "--timeout", patience.String())
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(p.run(t, "deploy", "--image", operatorImage, "--print")), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return manifests
		} else if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, object)
	}
}

// edit replaces texts, each of which must be there, by the one that follows it.
func (p project) edit(t *testing.T, file string, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(string(text), pairs[i]) {
			t.Fatalf("%s does not have %q", file, pairs[i])
		}
	}
	if err := os.WriteFile(filepath.Join(p.dir, file), []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
}

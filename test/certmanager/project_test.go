package main

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

// project is an operator's, scaffolded with webhooks, conversion and cert-manager.
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

// newProject makes a project whose kind Frigate has two versions: foo of v1 is called title in v2. The defaulting webhook
// names what has no name, the validating one refuses the name bad.
func newProject(t *testing.T, slipway string, env []string) project {
	t.Helper()
	p := project{dir: t.TempDir(), slipway: slipway, env: env, prefix: "op-", namespace: "op-system"}
	for _, line := range []string{
		"init --domain example.com --repo example.com/op --fetch-deps=false",
		"create api --group ship --version v1 --kind Frigate --resource --controller",
		"create api --group ship --version v2 --kind Frigate --resource --controller=false",
		"create webhook --group ship --version v1 --kind Frigate --defaulting --programmatic-validation --conversion --spoke v2 --certs cert-manager",
		"edit --enable prometheus,metrics-tls",
	} {
		p.run(t, strings.Fields(line)...)
	}
	p.edit(t, "api/v2/frigate_types.go", "Foo stands", "Title stands", "Foo *string `json:\"foo,omitempty\"`", "Title *string `json:\"title,omitempty\"`")
	p.edit(t, "api/v2/frigate_conversion.go",
		"shipv1.FrigateSpec(src.Spec)", "shipv1.FrigateSpec{Foo: src.Spec.Title}", "= FrigateSpec(src.Spec)", "= FrigateSpec{Title: src.Spec.Foo}")
	p.edit(t, "internal/webhook/v1/frigate_webhook.go",
		"// Your defaults go here.", `if frigate.Spec.Foo == nil { frigate.Spec.Foo = new("nobody") }`,
		"// Your checks go here", `if *frigate.Spec.Foo == "bad" { mistakes = append(mistakes, field.Invalid(field.NewPath("spec", "foo"), "bad", "is not a name")) } //`)
	p.listenHere(t)
	return p
}

// listenHere gives the webhook server the address that WEBHOOK_PORT says: in a pod a manager has all ports for itself, here not.
func (p project) listenHere(t *testing.T) {
	t.Helper()
	p.edit(t, "internal/manager/flags.go", "webhook.Options{TLSOpts", `webhook.Options{Host: "127.0.0.1", Port: webhookPort(), TLSOpts`)
	p.write(t, "internal/manager/port.go", `package manager

import (
	"os"
	"strconv"
)

func webhookPort() int {
	port, err := strconv.Atoi(os.Getenv("WEBHOOK_PORT"))
	if err != nil {
		panic(err)
	}
	return port
}
`)
}

// run runs slipway in the project.
func (p project) run(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, command(t, p.dir, p.env, p.slipway, args...))
}

// deploy deploys the project, and returns what that is.
func (p project) deploy(t *testing.T) (manifests []*unstructured.Unstructured) {
	t.Helper()
	p.run(t, "deploy")
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(p.run(t, "deploy", "--print")), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return manifests
		} else if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, object)
	}
}

// build compiles the manager.
func (p project) build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(p.dir, "manager")
	output(t, command(t, p.dir, p.env, "go", "build", "-o", program, "./cmd"))
	return program
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
	p.write(t, file, strings.NewReplacer(pairs...).Replace(string(text)))
}

func (p project) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

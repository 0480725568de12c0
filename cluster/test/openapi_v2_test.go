package test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// testOneDocument reads the document of version 2 before and after a custom resource is added.
func testOneDocument(t *testing.T, c clients) {
	binary, err := c.Discovery().OpenAPISchema() // asks for protobuf
	if err != nil {
		t.Fatal(err)
	}
	document, err := readDocument(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if b, j := len(binary.GetPaths().GetPath()), len(document.Paths); b != j {
		t.Errorf("%d paths in protobuf, %d in JSON", b, j)
	}
	for _, name := range []string{
		"io.k8s.api.core.v1.Pod", "io.k8s.api.apps.v1.Deployment",
		"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
		"io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
	} {
		if document.Definitions[name] == nil {
			t.Errorf("no definition %s", name)
		}
	}
	for _, path := range []string{
		"/api/v1/nodes", "/apis/apps/v1/deployments", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		"/apis/apiregistration.k8s.io/v1/apiservices", "/version/",
	} {
		if document.Paths[path] == nil {
			t.Errorf("no path %s", path)
		}
	}
	makeCRD(t, c, schema.GroupVersionResource{Group: "one.example.com", Version: "v1", Resource: "pages"})
	eventually(t, "the custom resource is described", func(ctx context.Context) (bool, error) {
		document, err := readDocument(ctx, c)
		return document.Definitions["com.example.one.v1.Page"] != nil && document.Paths["/apis/one.example.com/v1/namespaces/{namespace}/pages"] != nil, err
	})
}

// document is one of version 2.
type document struct {
	Definitions, Paths map[string]json.RawMessage
}

func readDocument(ctx context.Context, c clients) (d document, err error) {
	data, err := c.Discovery().RESTClient().Get().AbsPath("/openapi/v2").SetHeader("Accept", "application/json").DoRaw(ctx)
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	return d, err
}

// testKubectlValidates has kubectl check what it sends and explain a kind.
func testKubectlValidates(t *testing.T, config protocol.Config) {
	list := `{"kind": "List", "apiVersion": "v1", "items": [
		{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "one"}},
		{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "two"}}]}`
	misspelt := `{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "one"}, "spec": {"contaners": [], "containers": [{"name": "a", "image": "a"}]}}`
	for _, tt := range []struct {
		manifest string
		args     []string
		status   int
		want     string
	}{
		{list, []string{"create"}, 0, "configmap/two created"},
		{misspelt, []string{"create", "--validate=strict"}, 1, `unknown field "spec.contaners"`},
		{`{"kind": "List", "apiVersion": "v1", "items": "none"}`, []string{"create"}, 1, "invalid object to validate"},
		{"", []string{"explain", "pod.spec.containers.image"}, 0, "Container image name"},
	} {
		out, stderr, status := kubectl(t, config, tt.manifest, tt.args...)
		if status != tt.status || !strings.Contains(out+stderr, tt.want) {
			t.Errorf("kubectl %q: status %d, want %d and %q; stdout %q, stderr %q", tt.args, status, tt.status, tt.want, out, stderr)
		}
	}
}

// kubectl runs kubectl against the cluster, with a manifest or none.
func kubectl(t *testing.T, config protocol.Config, manifest string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	if manifest != "" {
		file := filepath.Join(t.TempDir(), "manifest.json")
		if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-f", file)
	}
	return run(t, programPath, append([]string{"kubectl", "--kubeconfig", filepath.Join(config.Dir, "kubeconfig")}, args...)...)
}

package certmanager

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	chartutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// programs are cert-manager's images, and the folders in which their programs are put together.
var programs = map[string]string{
	"cert-manager-controller": "./controller",
	"cert-manager-cainjector": "./cainjector",
	"cert-manager-webhook":    "./webhook",
}

// installCertManager does what `helm install` of cert-manager's chart does, whose images are built here.
func (c *cluster) installCertManager(t *testing.T) {
	t.Helper()
	dir, version := certManager(t)
	for name, program := range programs {
		c.image(t, ".", "quay.io/jetstack/"+name+":"+version, program)
	}
	c.kubectl(t, "create", "namespace", "cert-manager")
	apply := command(t, ".", c.env, c.slipway, "kubectl", "apply", "--server-side", "-f", "-")
	apply.Stdin = strings.NewReader(render(t, filepath.Join(dir, "deploy", "charts", "cert-manager"), version))
	output(t, apply)
	for _, deployment := range []string{"cert-manager", "cert-manager-cainjector", "cert-manager-webhook"} {
		c.kubectl(t, "-n", "cert-manager", "rollout", "status", "deployment", deployment, "--timeout", patience.String())
	}
	eventually(t, "cert-manager's webhook is not trusted", func(ctx context.Context) error {
		return c.Create(ctx, issuer(), client.DryRunAll)
	})
}

// issuer signs certificates with their own keys.
func issuer() *unstructured.Unstructured {
	i := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "spec": map[string]any{"selfSigned": map[string]any{}},
	}}
	i.SetNamespace(metav1.NamespaceDefault)
	i.SetName("tried")
	return i
}

// certManager is the folder and version of its module.
func certManager(t *testing.T) (dir, version string) {
	t.Helper()
	var module struct{ Dir, Version string }
	text := output(t, command(t, ".", nil, "go", "list", "-m", "-json", "github.com/cert-manager/cert-manager"))
	if err := json.Unmarshal([]byte(text), &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir, module.Version
}

// render is `helm template`, with the version that cert-manager's release tool gives the chart.
func render(t *testing.T, dir, version string) string {
	t.Helper()
	chart, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = version, version
	set := map[string]any{
		"crds":            map[string]any{"enabled": true},
		"startupapicheck": map[string]any{"enabled": false}, // a hook of helm's, which waits
	}
	release := common.ReleaseOptions{Name: "cert-manager", Namespace: "cert-manager", Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, set, release, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{}.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	var documents []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(files[name]) != "" {
			documents = append(documents, files[name])
		}
	}
	return strings.Join(documents, "\n---\n")
}

package chart_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/chart"
)

const callingItself = `apiVersion: v1
kind: Service
metadata: {name: store, namespace: theirs}
spec: {ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: store, namespace: theirs}
spec:
  template:
    spec:
      containers:
      - name: store
        image: store:v1
        args: [--name=store, --file=store.yaml, "--address=store.$(NAMESPACE).svc.cluster.local.", --other=bookstore.theirs]
        env: [{name: PEER, value: "http://store:8080"}]
`

const another = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: hooks, namespace: theirs}
spec: {template: {spec: {containers: [{name: hooks, image: hooks:v1}]}}}
`

// TestWarnings: a chart says where containers call a Service by its name without the chart, and if no Deployment's
// settings are values. The namespace is that of the objects where the kustomization sets none.
func TestWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		objects string
		want    []string
	}{
		"one Deployment": {callingItself, []string{"--address=store.$(NAMESPACE).svc.cluster.local. of the Deployment store", "http://store:8080 of the Deployment store calls the Service store, which has this name only in a release called store: "}},
		"two, and none is the manager's": {
			callingItself + another,
			[]string{"none of the Deployments store, hooks says that it is the manager's", "--address=store", "http://store:8080"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"kustomization.yaml": "resources: [objects.yaml]\n", "objects.yaml": test.objects} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			made, err := chart.Generate(t.Context(), chart.Source{Folder: dir}, chart.Options{Name: "store", Version: "0.1.0", AppVersion: "v1"})
			if err != nil {
				t.Fatal(err)
			}
			if len(made.Warnings) != len(test.want) || made.Namespace != "theirs" {
				t.Fatalf("namespace %s, warnings %q", made.Namespace, made.Warnings)
			}
			for i, want := range test.want {
				if !strings.Contains(made.Warnings[i], want) {
					t.Errorf("%q has no %q", made.Warnings[i], want)
				}
			}
		})
	}
}

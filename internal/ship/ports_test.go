package ship

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// served is a Deployment whose pods are asked at a port.
const served = `apiVersion: apps/v1
kind: Deployment
metadata: {name: served, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: served}}
  template:
    metadata: {labels: {app: served}}
    spec:
      containers:
      - name: manager
        image: example.com/served:v1
        readinessProbe: {httpGet: {path: /readyz, port: 8081}}
`

// TestWarnOfPorts: where pods share a machine's ports, replicas and rollouts that cannot be are told of, and only
// there.
func TestWarnOfPorts(t *testing.T) {
	c, events := connect(t)
	remove(t, c, served)
	apply := func(text string) (warnings []string) {
		t.Helper()
		events.lines = nil
		if err := c.Apply(t.Context(), objects(t, text), ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.AwaitReady(t.Context(), objects(t, text), testlimit.Hang); err != nil { // the server writes to it until then
			t.Fatal(err)
		}
		return slices.DeleteFunc(slices.Clone(events.lines), func(line string) bool { return !strings.HasPrefix(line, "warning ") })
	}
	want := func(got []string, parts ...string) {
		t.Helper()
		if len(got) != len(parts) {
			t.Errorf("warnings are %q, want %d", got, len(parts))
			return
		}
		for i, part := range parts {
			if !strings.Contains(got[i], part) || !strings.Contains(got[i], "deployment/default/served") {
				t.Errorf("warning is %q, want one with %s", got[i], part)
			}
		}
	}
	two := with(t, served, "replicas: 1", "replicas: 2")
	want(apply(two)) // no plain nodes

	node := objects(t, "apiVersion: v1\nkind: Node\nmetadata: {name: plain, labels: {slipway.dev/plain-node: \"true\"}}\nspec: {unschedulable: true}")[0]
	if _, err := c.objects.Resource(nodeResource).Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.objects.Resource(nodeResource).Delete(context.Background(), "plain", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	want(apply(two), "(2 replicas, port 8081)")
	want(apply(served))
	newer := with(t, served, "served:v1", "served:v2")
	recreated := with(t, newer, "  replicas: 1", "  strategy: {type: Recreate}\n  replicas: 1")
	want(apply(newer), "strategy: {type: Recreate}")
	want(apply(newer))
	want(apply(with(t, recreated, "served:v2", "served:v3"))) // which changes the strategy, too
	events.want(t, "updated deployment/default/served")
	want(apply(with(t, recreated, "served:v2", "served:v3")))
	events.want(t, "unchanged deployment/default/served")
	want(apply(served), "strategy: {type: Recreate}") // of which nothing is left
	live, err := c.live(t.Context(), objects(t, served)[0])
	if err != nil {
		t.Fatal(err)
	}
	if strategy, _, _ := unstructured.NestedString(live.Object, "spec", "strategy", "type"); strategy != "RollingUpdate" {
		t.Errorf("the strategy is %s", strategy)
	}
	silent := with(t, two, "        readinessProbe: {httpGet: {path: /readyz, port: 8081}}\n", "")
	want(apply(silent)) // it may have no port
}

// TestFixedPort: ports are those that containers declare or are asked at.
func TestFixedPort(t *testing.T) {
	for text, want := range map[string]int64{
		"{name: a}": 0,
		"{name: a, ports: [{name: web, containerPort: 80}]}":                                             80,
		"{name: a, livenessProbe: {grpc: {port: 9000}}}":                                                 9000,
		"{name: a, ports: [{name: web, containerPort: 80}], readinessProbe: {httpGet: {port: web}}}":     80,
		"{name: a, readinessProbe: {exec: {command: [ready]}}, startupProbe: {tcpSocket: {port: 8081}}}": 8081,
	} {
		workload := objects(t, "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: ["+text+"]}}}")[0]
		if got := fixedPort(workload); got != want {
			t.Errorf("%s: port %d, want %d", text, got, want)
		}
	}
}

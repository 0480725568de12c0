package ship

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// old is what the pods of these tests run. Their nodes are simulated, which say of an image what the pod calls it.
const old = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// workloads are one of each kind whose pods are kept running, in a namespace.
const workloads = `apiVersion: apps/v1
kind: Deployment
metadata: {name: one, namespace: restarts}
spec: {selector: {matchLabels: {app: one}}, template: {metadata: {labels: {app: one}}, spec: {containers: [{name: c, image: "op@` + old + `"}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: two, namespace: restarts}
spec: {serviceName: two, selector: {matchLabels: {app: two}}, template: {metadata: {labels: {app: two}}, spec: {containers: [{name: c, image: "op@` + old + `"}]}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: three, namespace: restarts}
spec: {selector: {matchLabels: {app: three}}, template: {metadata: {labels: {app: three}}, spec: {containers: [{name: c, image: "op@` + old + `"}]}}}`

// has returns what package clusterctl/loaded says of an image that has these digests now.
func has(digests ...string) Images {
	return func(context.Context, string) ([]string, error) { return digests, nil }
}

// TestRestart: what runs an older image is restarted, once, and what is applied afterwards leaves it alone.
func TestRestart(t *testing.T) {
	c, events := connect(t)
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: restarts, labels: {of: tests}}\n"
	remove(t, c, namespace)
	all := objects(t, namespace+"---\n"+workloads)
	ship := func() {
		t.Helper()
		if err := c.Apply(t.Context(), all, ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.AwaitReady(t.Context(), all, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	outdated := func(of []*unstructured.Unstructured, images Images) []Outdated {
		t.Helper()
		found, err := c.Outdated(t.Context(), of, images)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := outdated(all, has("sha256:new")); len(found) > 0 {
		t.Errorf("before there is anything: %+v", found)
	}
	ship()
	for what, found := range map[string][]Outdated{
		"what is current":             outdated(all, has("sha256:index", old)),
		"an image that is not loaded": outdated(all, has()),
		"what gets another image":     outdated(objects(t, strings.ReplaceAll(workloads, old, strings.Replace(old, "0", "f", 1))), has("sha256:new")),
	} {
		if len(found) > 0 {
			t.Errorf("%s is to be restarted: %+v", what, found)
		}
	}
	found := outdated(all, has("sha256:new"))
	if len(found) != 3 {
		t.Fatalf("to be restarted are %+v", found)
	}
	differences, err := c.Preview(t.Context(), all, ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	PreviewRestart(differences, found)
	for _, d := range differences[1:] {
		if d.Action != report.Updated || d.Why != "restarts: image op@"+old+" was loaded again (sha256:0123456789ab → sha256:new)" || !strings.Contains(d.Diff, "\n+ ") {
			t.Errorf("preview: %+v", d)
		}
	}
	if err := c.Restart(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if err := c.AwaitReady(t.Context(), all, time.Hour); err != nil {
		t.Fatal(err)
	}
	events.lines = nil
	ship()
	events.want(t, "unchanged namespace/restarts", "unchanged deployment/restarts/one", "unchanged statefulset/restarts/two", "unchanged daemonset/restarts/three")

	found = outdated(all, has("sha256:newest"))
	for _, object := range all { // the environment of the pods changes with the same deploy: they are new anyway
		_ = unstructured.SetNestedField(object.Object, "b", "spec", "template", "metadata", "annotations", "a")
	}
	all = all[1:]
	ship()
	before := list[corev1.Pod](t.Context(), c.objects.Resource(podResource).Namespace("restarts"), metav1.ListOptions{})
	if err := c.Restart(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if err := c.AwaitReady(t.Context(), all, time.Hour); err != nil {
		t.Fatal(err)
	}
	after := list[corev1.Pod](t.Context(), c.objects.Resource(podResource).Namespace("restarts"), metav1.ListOptions{})
	if len(found) != 3 || len(before) != len(after) || before[0].UID != after[0].UID {
		t.Errorf("%d workloads were rolled out twice", len(found))
	}
}

// TestRestarting: a pod that a restart takes away is not outdated, and one that came of it may be.
func TestRestarting(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	live := &unstructured.Unstructured{Object: Outdated{}.restartAt(at)}
	for ago, want := range map[time.Duration]bool{time.Hour: true, time.Second: true, 0: false, -time.Minute: false} {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at.Add(-ago))}}
		if restarting(live, pod) != want {
			t.Errorf("a pod that is %s older than the restart: %t", ago, !want)
		}
	}
	if restarting(&unstructured.Unstructured{}, corev1.Pod{}) {
		t.Error("a workload that was never restarted")
	}
}

package ship

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload is a Deployment or StatefulSet without pods.
func workload(kind, label, spec, pod string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: %s\nmetadata: {name: refused, namespace: default}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: %s}}\n%s"+
		"  template: {metadata: {labels: {app: %[2]s}}, spec: {containers: [{name: c, image: none}]%[4]s}}", kind, label, spec, pod)
}

// secretVolume and mapVolume contradict each other: a volume has one source.
const (
	secretVolume = ", volumes: [{name: v, secret: {secretName: s}}]"
	mapVolume    = ", volumes: [{name: v, configMap: {name: m}}]"
)

// TestRefusedChangesNothing: a deployment of which the server refuses one object changes none, also not the owners of
// fields of what `kubectl apply` created.
func TestRefusedChangesNothing(t *testing.T) {
	for name, test := range map[string]struct{ before, after, what string }{
		"selector":      {workload("Deployment", "a", "", ""), workload("Deployment", "b", "", ""), "immutable fields would change: spec.selector"},
		"left out":      {workload("StatefulSet", "a", "  podManagementPolicy: Parallel\n", ""), workload("StatefulSet", "a", "", ""), "immutable fields would change: spec.podManagementPolicy"},
		"contradiction": {workload("Deployment", "a", "", secretVolume), workload("Deployment", "a", "", ", restartPolicy: Never"+mapVolume), "the cluster refused the object"},
	} {
		t.Run(name, func(t *testing.T) {
			c, events := connect(t)
			configuration := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused, namespace: default}\ndata: {x: \"1\"}"
			applied := configuration + "\n---\n" + test.before
			remove(t, c, applied)
			kubectlApply(t, c, applied)
			var before []map[string]any
			for _, object := range []string{configuration, test.before} {
				before = append(before, content(t, c, object))
			}
			o := ApplyOptions{Set: &Set{Project: "refused", Namespace: "default"}}
			deployed := strings.Replace(configuration, `"1"`, `"2"`, 1) + "\n---\n" + test.after
			known := failure(t, c.Apply(t.Context(), objects(t, deployed), o))
			if known.What != test.what {
				t.Errorf("error is %v, want %s", known, test.what)
			}
			for i, object := range []string{configuration, test.before} {
				if now := content(t, c, object); !reflect.DeepEqual(now, before[i]) {
					t.Errorf("it became %v, was %v", now, before[i])
				}
			}
			events.want(t)
			if at(t, c, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: slipway-refused, namespace: default}") != nil {
				t.Error("there is an inventory")
			}
		})
	}
}

// TestRefusedTakeOver: what only changing an object shows that the server refuses leaves the owners of its fields.
func TestRefusedTakeOver(t *testing.T) {
	c, _ := connect(t)
	object := workload("StatefulSet", "a", "  podManagementPolicy: Parallel\n", secretVolume)
	remove(t, c, object)
	kubectlApply(t, c, object)
	before := content(t, c, object)
	set := &Set{Project: "refused", Namespace: "default"}
	known := failure(t, c.Apply(t.Context(), objects(t, workload("StatefulSet", "a", "", mapVolume)), ApplyOptions{Set: set}))
	if known.What != "immutable fields would change: spec.podManagementPolicy" {
		t.Errorf("error is %v", known)
	}
	if now := content(t, c, object); !reflect.DeepEqual(now, before) {
		t.Errorf("it became %v, was %v", now, before)
	}
	if err := c.Delete(t.Context(), objects(t, object), DeleteOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
}

// kubectlApply creates objects as `kubectl apply` does.
func kubectlApply(t *testing.T, c *Cluster, text string) {
	t.Helper()
	for _, object := range objects(t, text) {
		resource, object, err := c.locate(t.Context(), object, 0)
		if err != nil {
			t.Fatal(err)
		}
		object.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: "{}"})
		if _, err := resource.Create(t.Context(), object, metav1.CreateOptions{FieldManager: clientSide}); err != nil {
			t.Fatal(err)
		}
	}
}

// content is what a user gives an object, and its owners, but not what counts changes or what controllers write.
func content(t *testing.T, c *Cluster, object string) map[string]any {
	t.Helper()
	live := at(t, c, object)
	owners := slices.DeleteFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "slipway-cluster" })
	for i := range owners {
		owners[i].Time = nil
	}
	live.SetManagedFields(owners)
	annotations := live.GetAnnotations()
	delete(annotations, "deployment.kubernetes.io/revision")
	live.SetAnnotations(annotations)
	live.SetResourceVersion("")
	live.SetGeneration(0)
	delete(live.Object, "status")
	return live.Object
}

// TestPortThatIsGivenUp: a port that a Service gives up is another one's in the same deployment.
func TestPortThatIsGivenUp(t *testing.T) {
	c, _ := connect(t)
	service := func(name, port string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: default}\nspec: {type: NodePort, ports: [{port: 80" + port + "}]}"
	}
	const port = ", nodePort: 31987"
	set := &Set{Project: "ports", Namespace: "default"}
	remove(t, c, service("gives", "")+"\n---\n"+service("takes", ""))
	mustApply(t, c, service("gives", port), ApplyOptions{Set: set})
	mustApply(t, c, service("gives", ", nodePort: 31988")+"\n---\n"+service("takes", port), ApplyOptions{Set: set})
	if err := c.Delete(t.Context(), objects(t, service("gives", "")+"\n---\n"+service("takes", "")), DeleteOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
}

// TestRefusedNewObject: what the server refuses to create is found before the first object changes.
func TestRefusedNewObject(t *testing.T) {
	for name, object := range map[string]string{
		"port":  "apiVersion: v1\nkind: Service\nmetadata: {name: refused, namespace: default}\nspec: {ports: [{port: 70000}]}",
		"field": "apiVersion: v1\nkind: Service\nmetadata: {name: refused, namespace: default}\nspec: {ports: [{prt: 70}]}",
	} {
		t.Run(name, func(t *testing.T) {
			c, events := connect(t)
			known := failure(t, c.Apply(context.Background(), objects(t, configMap("before")+"\n---\n"+object), ApplyOptions{Set: &Set{Project: "refused", Namespace: "default"}}))
			if known.Where != "service/default/refused" {
				t.Errorf("error is %v", known)
			}
			events.want(t)
			if at(t, c, configMap("before")) != nil {
				t.Error("an object was made")
			}
		})
	}
}

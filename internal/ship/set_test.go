package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/internal/testlimit"
)

// TestSetID: the id is what kubectl makes of the same parent.
func TestSetID(t *testing.T) {
	set := &Set{Project: "op", Namespace: "op-system"}
	// printf slipway-op.op-system.ConfigMap. | openssl sha256 -binary | basenc --base64url
	const want = "applyset-1IOla05mwJzrb2uuSfuyzJdjWtXSqCtHY7aKEIRFDtE-v1"
	if got := set.id(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	other := *set
	other.Part = "config-samples"
	if other.id() == set.id() {
		t.Error("the deployments of two folders are one set")
	}
	parent := newScope()
	parent.add(objects(t, fleet)...)
	text := parent.parentOf(set).GetAnnotations()
	if diff := gocmp.Diff(map[string]string{
		"applyset.kubernetes.io/tooling":               "slipway/v0.0.0",
		"applyset.kubernetes.io/contains-group-kinds":  "ConfigMap,Namespace,ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"applyset.kubernetes.io/additional-namespaces": "shared",
	}, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const fleet = `
apiVersion: v1
kind: Namespace
metadata: {name: shared, labels: {fleet: a}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shared}
data: {x: "1"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: fleet-a}
webhooks:
- name: v.fleet.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "https://127.0.0.1:1/"}
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}
  namespaceSelector: {matchLabels: {fleet: a}}
`

// secondFleet is another project in the same namespace, which gives that other labels.
const secondFleet = `
apiVersion: v1
kind: Namespace
metadata: {name: shared, labels: {convoy: b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: shared}
data: {x: "1"}
`

// at is an object of the cluster; nil if it does not exist.
func at(t *testing.T, c *Cluster, object string) *unstructured.Unstructured {
	t.Helper()
	live, err := c.found(t.Context(), objects(t, object)[0])
	if err != nil {
		t.Fatal(err)
	}
	return live
}

const sharedNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shared}"

func preview(t *testing.T, c *Cluster, all []*unstructured.Unstructured, o ApplyOptions) (lines []string) {
	t.Helper()
	differences, err := c.Preview(t.Context(), all, o)
	if err != nil {
		t.Fatal(err)
	}
	return words(differences)
}

func words(differences []Difference) (lines []string) {
	for _, d := range differences {
		lines = append(lines, string(d.Action)+" "+d.Name+strings.TrimSuffix(" "+d.Why, " "))
	}
	return lines
}

// TestSharedNamespace: two projects that share a namespace keep their fields and their objects; what one does not have
// any more goes, its webhooks first; and what one leaves the other keeps.
func TestSharedNamespace(t *testing.T) {
	c, events := connect(t)
	ctx := t.Context()
	first, second := ApplyOptions{Set: &Set{Project: "first", Namespace: "shared"}}, ApplyOptions{Set: &Set{Project: "second", Namespace: "shared"}}
	apply := func(all []*unstructured.Unstructured, o ApplyOptions) {
		t.Helper()
		if err := c.Apply(ctx, all, o); err != nil {
			t.Fatal(err)
		}
	}
	apply(objects(t, fleet), first)
	events.want(t, "created namespace/shared", "created configmap/shared/a", "created validatingwebhookconfiguration/fleet-a", "created configmap/shared/slipway-first")
	apply(objects(t, fleet), first)
	events.want(t, "unchanged namespace/shared", "unchanged configmap/shared/a", "unchanged validatingwebhookconfiguration/fleet-a", "unchanged configmap/shared/slipway-first")

	// The old webhook refuses all that changes in the namespace: without it that has to go first.
	fewer := objects(t, sharedNamespace+"\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shared}")
	fewer[0].SetLabels(map[string]string{"fleet": "a"})
	err := poll(ctx, testlimit.Hang, func(ctx context.Context) (bool, error) { return dryRun(t, c, fewer[1]) != nil, nil })
	if err != nil {
		t.Fatal("the webhook refuses nothing: ", err)
	}
	lines := preview(t, c, fewer[:1], first)
	if diff := gocmp.Diff([]string{
		"deleted validatingwebhookconfiguration/fleet-a left from an earlier deployment", "unchanged namespace/shared",
		"deleted configmap/shared/a left from an earlier deployment", "updated configmap/shared/slipway-first",
	}, lines); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	apply(fewer, first)
	events.want(t, "deleted validatingwebhookconfiguration/fleet-a", "unchanged namespace/shared", "created secret/shared/s", "deleted configmap/shared/a", "updated configmap/shared/slipway-first")

	// Another project's fields are beside the first one's, whoever applies last.
	apply(objects(t, secondFleet), second)
	events.lines = nil
	apply(fewer, first)
	apply(objects(t, secondFleet), second)
	labels := at(t, c, sharedNamespace).GetLabels()
	if labels["fleet"] != "a" || labels["convoy"] != "b" || labels[partOfLabel] != first.Set.id() {
		t.Errorf("labels are %v", labels)
	}
	events.lines = nil

	// The namespace is the first one's, so that the second one leaves it; the first one is asked, for others use it.
	if err := c.Delete(ctx, objects(t, secondFleet), DeleteOptions{Set: second.Set, Consent: never(t)}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "kept namespace/shared", "deleted configmap/shared/b", "deleted configmap/shared/slipway-second")
	apply(objects(t, secondFleet), second)
	events.lines = nil
	asked := ""
	refuse := func(_ context.Context, question string) (bool, error) { asked = question; return false, nil }
	if err := c.Delete(ctx, fewer, DeleteOptions{Set: first.Set, Consent: refuse}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked, "namespace/shared with configmap/shared/b, configmap/shared/slipway-second") {
		t.Errorf("asked %q", asked)
	}
	events.want(t)
	if at(t, c, sharedNamespace).GetDeletionTimestamp() != nil {
		t.Error("the namespace goes all the same")
	}
	if err := c.Delete(ctx, objects(t, secondFleet), DeleteOptions{Set: second.Set}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Delete(ctx, fewer, DeleteOptions{Set: first.Set, Consent: never(t)}); err != nil {
			t.Fatal(err)
		}
	}
	if at(t, c, sharedNamespace) != nil {
		t.Error("the namespace is still there")
	}
}

// never is asked nothing.
func never(t *testing.T) Consent {
	return func(_ context.Context, question string) (bool, error) {
		t.Errorf("asked %q", question)
		return false, nil
	}
}

// TestForeignDefinition: a definition that others brought stays, with its objects; one of ours that has objects is
// asked about; and one that leaves the manifests goes only if that is wanted.
func TestForeignDefinition(t *testing.T) {
	c, events := connect(t)
	ctx := t.Context()
	theirs, ours := definition("theirs.example.com", "x"), definition("ours.example.com", "x")
	remove(t, c, theirs)
	crds := c.objects.Resource(crdResource)
	if _, err := crds.Create(ctx, objects(t, theirs)[0], metav1.CreateOptions{FieldManager: "gitops"}); err != nil {
		t.Fatal(err)
	}
	both := objects(t, theirs+"\n---\n"+ours)
	set := &Set{Project: "mixed", Namespace: "default", DefinitionsOnly: true}
	if err := c.Apply(ctx, both, ApplyOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	events.lines = nil
	if err := c.Apply(ctx, objects(t, boat("ours.example.com", "{oars: 2}")+"\n---\n"+boat("theirs.example.com", "{}")), ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	events.lines = nil

	// Out of the manifests: kept without a yes, and shown so.
	if diff := gocmp.Diff([]string{"unchanged crd/boats.theirs.example.com " + whyBefore, "kept crd/boats.ours.example.com left from an earlier deployment and may hold data: `slipway kubectl delete customresourcedefinition.apiextensions.k8s.io boats.ours.example.com` deletes it"}, preview(t, c, both[:1], ApplyOptions{Set: set})); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	if err := c.Apply(ctx, both[:1], ApplyOptions{Set: set}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "unchanged crd/boats.theirs.example.com", "kept crd/boats.ours.example.com")

	differences, err := c.PreviewDelete(ctx, both, DeleteOptions{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{
		"kept crd/boats.theirs.example.com " + whyNotOurs,
		"deleted crd/boats.ours.example.com with its one object, boat/default/one; others use it, so a prompt comes first",
	}, words(differences)); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	yes := func(context.Context, string) (bool, error) { return true, nil }
	if err := c.Delete(ctx, both, DeleteOptions{Set: set, Consent: yes}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "kept crd/boats.theirs.example.com", "deleted crd/boats.ours.example.com")
	if at(t, c, boat("theirs.example.com", "{}")+"\n") == nil {
		t.Error("their object is gone")
	}
}

// TestTakeOver: what `kubectl apply` or an earlier slipway brought is the deployment's from then on: what the manifest
// lacks goes, and what others set stays. The preview shows what the run does, and the second run changes nothing.
func TestTakeOver(t *testing.T) {
	c, events := connect(t)
	remove(t, c, taken)
	for earlier, operation := range map[string]metav1.ManagedFieldsOperationType{
		clientSide: metav1.ManagedFieldsOperationUpdate, serverSide: metav1.ManagedFieldsOperationApply, FieldManager: metav1.ManagedFieldsOperationApply,
	} {
		t.Run(earlier, func(t *testing.T) { takeOver(t, c, events, earlier, operation) })
	}
}

const taken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: taken}\ndata: {ours: new, same: s}"

func takeOver(t *testing.T, c *Cluster, events *recorder, earlier string, operation metav1.ManagedFieldsOperationType) {
	ctx := t.Context()
	maps := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	created := objects(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: taken, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}}\ndata: {ours: old, same: s, left: x}")[0]
	var err error
	if operation == metav1.ManagedFieldsOperationUpdate {
		_, err = maps.Create(ctx, created, metav1.CreateOptions{FieldManager: earlier})
	} else {
		text, _ := created.MarshalJSON()
		_, err = maps.Patch(ctx, "taken", types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: earlier})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Patch(ctx, "taken", types.MergePatchType, []byte(`{"metadata":{"annotations":{"theirs":"kept"}},"data":{"injected":"i"}}`), metav1.PatchOptions{FieldManager: "injector"}); err != nil {
		t.Fatal(err)
	}
	o := ApplyOptions{Set: &Set{Project: "taker", Namespace: "default"}}
	differences, err := c.Preview(ctx, objects(t, taken), o)
	if err != nil {
		t.Fatal(err)
	}
	want := "takes .data.ours from " + earlier + "; removes .data.left of " + earlier
	if d := differences[0]; d.Why != want || !strings.Contains(d.Diff, "+  ours: new") || !strings.Contains(d.Diff, "-  left: x") || strings.Contains(d.Diff, "-  injected") {
		t.Errorf("preview: %+v", d)
	}
	for range 2 {
		if err := c.Apply(ctx, objects(t, taken), o); err != nil {
			t.Fatal(err)
		}
	}
	events.want(t, "updated configmap/default/taken", "created configmap/default/slipway-taker", "unchanged configmap/default/taken", "unchanged configmap/default/slipway-taker")
	live := at(t, c, taken)
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	if diff := gocmp.Diff(map[string]string{"ours": "new", "same": "s", "injected": "i"}, data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	annotations := map[string]string{"theirs": "kept"}
	if earlier != FieldManager {
		annotations[adoptedAnnotation] = string(live.GetUID())
	}
	if diff := gocmp.Diff(annotations, live.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if err := c.Delete(ctx, objects(t, taken), DeleteOptions{Set: o.Set}); err != nil {
		t.Fatal(err)
	}
	events.lines = nil
}

// TestFieldOfKubectl: who applied one field to an object of another did not bring the object.
func TestFieldOfKubectl(t *testing.T) {
	c, events := connect(t)
	ctx := t.Context()
	maps := c.objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tuned}\ndata: {ours: o}"
	remove(t, c, object)
	created := objects(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tuned}\ndata: {theirs: precious}")[0]
	if _, err := maps.Create(ctx, created, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
		t.Fatal(err)
	}
	tuned, _ := objects(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tuned}\ndata: {tuned: t}")[0].MarshalJSON()
	if _, err := maps.Patch(ctx, "tuned", types.ApplyPatchType, tuned, metav1.PatchOptions{FieldManager: serverSide}); err != nil {
		t.Fatal(err)
	}
	o := ApplyOptions{Set: &Set{Project: "tuner", Namespace: "default"}}
	mustApply(t, c, object, o)
	if err := c.Delete(ctx, objects(t, object), DeleteOptions{Set: o.Set}); err != nil {
		t.Fatal(err)
	}
	live := at(t, c, object)
	if live == nil {
		t.Fatal("the object of another was deleted")
	}
	data, _, _ := unstructured.NestedStringMap(live.Object, "data")
	if data["theirs"] != "precious" || data["tuned"] != "t" {
		t.Errorf("data are %v", data)
	}
	events.lines = nil
}

// TestTakeOverContradiction: fields of `kubectl apply` that contradict the manifest, such as another source of a
// volume, go before it is applied. Another owner's conflict is found before anything changes.
func TestTakeOverContradiction(t *testing.T) {
	c, events := connect(t)
	ctx := t.Context()
	deployments := c.objects.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace("default")
	workload := func(replicas int, volume string) string {
		return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: contradicted}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: contradicted}}\n"+
			"  template: {metadata: {labels: {app: contradicted}}, spec: {containers: [{name: c, image: none}], volumes: [{name: v, %s}]}}", replicas, volume)
	}
	object := workload(0, "configMap: {name: m}")
	remove(t, c, object)
	if _, err := deployments.Create(ctx, objects(t, workload(0, "secret: {secretName: s}"))[0], metav1.CreateOptions{FieldManager: clientSide}); err != nil {
		t.Fatal(err)
	}
	o := ApplyOptions{Set: &Set{Project: "contradicted", Namespace: "default"}}
	if lines := preview(t, c, objects(t, object), o); !strings.HasPrefix(lines[0], "updated deployment/default/contradicted not checked: ") {
		t.Errorf("preview: %q", lines)
	}
	scale := func(replicas int) {
		t.Helper()
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		if _, err := deployments.Patch(ctx, "contradicted", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "autoscaler"}, "scale"); err != nil {
			t.Fatal(err)
		}
	}
	scale(1)
	before := at(t, c, object)
	if known := failure(t, c.Apply(ctx, objects(t, workload(0, "secret: {secretName: other}")), o)); !strings.Contains(known.Hint, "autoscaler") {
		t.Errorf("the error is %v, want a conflict with the autoscaler", known)
	}
	if now := at(t, c, object); !slices.ContainsFunc(now.GetManagedFields(), isKubectl) || now.GetGeneration() != before.GetGeneration() {
		t.Errorf("a conflict changed the object: %v", now.GetManagedFields())
	}
	events.lines = nil
	mustApply(t, c, strings.Replace(object, "  replicas: 0\n", "", 1), o)
	live := at(t, c, object)
	if volumes, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "volumes"); fmt.Sprint(volumes) != "[map[configMap:map[defaultMode:420 name:m] name:v]]" {
		t.Errorf("volumes %v", volumes)
	}
	if replicas, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas"); replicas != 1 {
		t.Errorf("%d replicas, want the autoscaler's", replicas)
	}
	if err := c.Delete(ctx, objects(t, object), DeleteOptions{Set: o.Set}); err != nil {
		t.Fatal(err)
	}
}

// TestForeignSet: an inventory of another tool is not touched.
func TestForeignSet(t *testing.T) {
	c, _ := connect(t)
	parent := (&Set{Project: "foreign", Namespace: "default"}).parent(nil, nil)
	parent.SetAnnotations(map[string]string{toolingAnnotation: "kubectl/v1.37"})
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foreign}"
	if err := c.Apply(t.Context(), []*unstructured.Unstructured{parent}, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), []*unstructured.Unstructured{parent}, DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	set := &Set{Project: "foreign", Namespace: "default"}
	for _, err := range []error{c.Apply(t.Context(), objects(t, object), ApplyOptions{Set: set}), c.Delete(t.Context(), objects(t, object), DeleteOptions{Set: set})} {
		if known := failure(t, err); !errors.Is(known.Err, errForeignSet) || !strings.Contains(known.Hint, "kubectl/v1.37") {
			t.Errorf("got %v", err)
		}
	}
	if at(t, c, object) != nil {
		t.Error("the object was made")
	}
}

// TestTwoPartsOfAProject: a deployment of the same project from another folder leaves the first one's members to that.
func TestTwoPartsOfAProject(t *testing.T) {
	c, _ := connect(t)
	role := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: two-parts}\nrules: []"
	first, second := &Set{Project: "parts", Namespace: "default"}, &Set{Project: "parts", Part: "over", Namespace: "default"}
	remove(t, c, role)
	mustApply(t, c, role, ApplyOptions{Set: first})
	mustApply(t, c, role+"\n---\n"+configMap("over"), ApplyOptions{Set: second})
	if got := at(t, c, role).GetLabels()[partOfLabel]; got != first.id() {
		t.Errorf("the label is %q", got)
	}
	if err := c.Delete(t.Context(), objects(t, role+"\n---\n"+configMap("over")), DeleteOptions{Set: second}); err != nil {
		t.Fatal(err)
	}
	if at(t, c, role) == nil {
		t.Fatal("the second deleted the first one's role")
	}
	mustApply(t, c, role, ApplyOptions{Set: first})
	if err := c.Delete(t.Context(), objects(t, role), DeleteOptions{Set: first}); err != nil {
		t.Fatal(err)
	}
	if at(t, c, role) != nil {
		t.Error("the role stays")
	}
}

package ship

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// agree agrees to all.
func agree(context.Context, string) (bool, error) { return true, nil }

// mustApply applies objects as a set's.
func mustApply(t *testing.T, c *Cluster, text string, o ApplyOptions) {
	t.Helper()
	if err := c.Apply(t.Context(), objects(t, text), o); err != nil {
		t.Fatal(err)
	}
}

// copyOf creates a copy of an object of the cluster under a name, as `kubectl get -o yaml | kubectl apply -f -` does. A
// copy of the same name replaces the object.
func copyOf(t *testing.T, c *Cluster, object, name, manager string) {
	t.Helper()
	live := at(t, c, object)
	resource, live, err := c.locate(t.Context(), live, 0)
	if err != nil {
		t.Fatal(err)
	}
	if name == live.GetName() {
		if err := resource.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	made := live.DeepCopy()
	made.SetName(name)
	made.SetUID("")
	made.SetResourceVersion("")
	made.SetManagedFields(nil)
	if _, err := resource.Create(t.Context(), made, metav1.CreateOptions{FieldManager: manager}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), []*unstructured.Unstructured{made}, DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\ndata: {x: \"1\"}"
}

const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: creds, namespace: default}\nstringData: {password: x}"

// TestCopiesStay: a deployment deletes what its inventory lists with the same UID. A copy with the label stays, and so
// does an object that another tool deleted and created again; preview, deployment and removal agree.
func TestCopiesStay(t *testing.T) {
	c, events := connect(t)
	o := ApplyOptions{Set: &Set{Project: "copied", Namespace: "default"}}
	mustApply(t, c, configMap("stays")+"\n---\n"+configMap("leaves")+"\n---\n"+configMap("again"), o)
	copyOf(t, c, configMap("leaves"), "copy", clientSide)
	copyOf(t, c, configMap("again"), "again", clientSide)
	events.lines = nil

	unlabel := func(name string) string {
		return "; `slipway kubectl -n default label configmap " + name + " applyset.kubernetes.io/part-of-` removes the label"
	}
	want := []string{
		"unchanged configmap/default/stays", "deleted configmap/default/leaves left from an earlier deployment",
		"kept configmap/default/again " + whyRecreated + unlabel("again"), "kept configmap/default/copy " + whyCopied + unlabel("copy"), "updated configmap/default/slipway-copied",
	}
	if lines := preview(t, c, objects(t, configMap("stays")), o); !slices.Equal(lines, want) {
		t.Errorf("preview: %q\nwant %q", lines, want)
	}
	mustApply(t, c, configMap("stays"), o)
	events.want(t, "unchanged configmap/default/stays", "deleted configmap/default/leaves", "kept configmap/default/again", "kept configmap/default/copy", "updated configmap/default/slipway-copied")
	if err := c.Delete(t.Context(), objects(t, configMap("stays")), DeleteOptions{Set: o.Set, Consent: never(t)}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "kept configmap/default/again", "kept configmap/default/copy", "deleted configmap/default/stays", "deleted configmap/default/slipway-copied")
	if at(t, c, configMap("copy")) == nil || at(t, c, configMap("again")) == nil {
		t.Error("another tool's objects are gone")
	}
}

// TestCopyInNamespace: the namespace of a copy is not removed without a question, for the copy is not the deployment's.
func TestCopyInNamespace(t *testing.T) {
	c, _ := connect(t)
	const inside = "apiVersion: v1\nkind: Secret\nmetadata: {name: made, namespace: copies}"
	all := "apiVersion: v1\nkind: Namespace\nmetadata: {name: copies}\n---\n" + inside
	set := &Set{Project: "copies", Namespace: "copies"}
	mustApply(t, c, all, ApplyOptions{Set: set})
	copyOf(t, c, inside, "mine", clientSide)
	asked := ""
	refuse := func(_ context.Context, question string) (bool, error) { asked = question; return false, nil }
	if err := c.Delete(t.Context(), objects(t, all), DeleteOptions{Set: set, Consent: refuse}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked, "namespace/copies with secret/copies/mine") || strings.Contains(asked, "secret/copies/made") {
		t.Errorf("asked %q", asked)
	}
	if err := c.Delete(t.Context(), objects(t, all), DeleteOptions{Set: set, Consent: agree}); err != nil {
		t.Fatal(err)
	}
}

// withoutRoster makes an inventory one of a slipway that listed kinds alone.
func withoutRoster(t *testing.T, c *Cluster, set *Set) {
	t.Helper()
	resource, parent, err := c.locate(t.Context(), set.parent(nil, nil), 0)
	if err != nil {
		t.Fatal(err)
	}
	live, err := resource.Get(t.Context(), parent.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	delete(live.Object, "data")
	if _, err := resource.Update(t.Context(), live, metav1.UpdateOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
}

// TestOldInventory: an inventory that lists kinds alone goes by the owner of the label, and lists objects from the next
// deployment on.
func TestOldInventory(t *testing.T) {
	c, events := connect(t)
	o := ApplyOptions{Set: &Set{Project: "old", Namespace: "default"}}
	mustApply(t, c, configMap("old-stays")+"\n---\n"+configMap("old-leaves")+"\n---\n"+configMap("old-again"), o)
	copyOf(t, c, configMap("old-leaves"), "old-copy", clientSide)
	copyOf(t, c, configMap("old-again"), "old-again", "kubectl-create")
	withoutRoster(t, c, o.Set)
	events.lines = nil
	for range 2 { // the second time with an inventory that lists objects
		differences := preview(t, c, objects(t, configMap("old-stays")), o)
		for _, name := range []string{"old-copy", "old-again"} {
			if !slices.ContainsFunc(differences, func(line string) bool { return strings.HasPrefix(line, "kept configmap/default/"+name+" "+whyCopied) }) {
				t.Errorf("preview of %s: %q", name, differences)
			}
		}
		mustApply(t, c, configMap("old-stays"), o)
	}
	events.want(t,
		"unchanged configmap/default/old-stays", "deleted configmap/default/old-leaves", "kept configmap/default/old-again", "kept configmap/default/old-copy", "updated configmap/default/slipway-old",
		"unchanged configmap/default/old-stays", "kept configmap/default/old-again", "kept configmap/default/old-copy", "unchanged configmap/default/slipway-old")
	withoutRoster(t, c, o.Set)
	if err := c.Delete(t.Context(), objects(t, configMap("old-stays")), DeleteOptions{Set: o.Set, Consent: never(t)}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "kept configmap/default/old-again", "kept configmap/default/old-copy", "deleted configmap/default/old-stays", "deleted configmap/default/slipway-old")
}

// TestInterrupted: a deployment that ended early has announced its objects: the next one deletes those that it made,
// and nothing that another tool made under such a name.
func TestInterrupted(t *testing.T) {
	c, events := connect(t)
	o := ApplyOptions{Set: &Set{Project: "interrupted", Namespace: "default"}}
	crd := definition("interrupted.example.com", "x")
	remove(t, c, crd)
	mustApply(t, c, crd, ApplyOptions{})
	refused := boat("interrupted.example.com", "{ores: 2}")
	if err := c.Apply(t.Context(), objects(t, configMap("made")+"\n---\n"+configMap("remade")+"\n---\n"+refused), o); err == nil {
		t.Fatal("an object with an unknown field was made")
	}
	copyOf(t, c, configMap("remade"), "remade", clientSide)
	events.lines = nil
	mustApply(t, c, configMap("other"), o)
	events.want(t, "created configmap/default/other", "deleted configmap/default/made", "kept configmap/default/remade", "updated configmap/default/slipway-interrupted")
	if err := c.Delete(t.Context(), objects(t, configMap("other")), DeleteOptions{Set: o.Set}); err != nil {
		t.Fatal(err)
	}
}

// dataObjects are of every kind whose objects may hold data, beside a ConfigMap.
func dataObjects(group string) string {
	return strings.Join([]string{
		definition(group, "x"), boat(group, "{oars: 2}"), configMap("plain"), secret,
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: data}",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: disk, namespace: default}\nspec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Mi}}}",
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: volume}\nspec: {accessModes: [ReadWriteOnce], storageClassName: none, capacity: {storage: 1Mi}, hostPath: {path: /nowhere}}",
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: store, namespace: default}\nspec:\n  replicas: 0\n  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n  selector: {matchLabels: {app: store}}\n  template: {metadata: {labels: {app: store}}, spec: {containers: [{name: c, image: none}]}}",
	}, "\n---\n")
}

// dataNames are those of dataObjects that may hold data, as they are kept.
func dataNames(group string) []string {
	return []string{"crd/boats." + group, "boat/default/one", "secret/default/creds", "namespace/data", "persistentvolumeclaim/default/disk", "persistentvolume/volume", "statefulset/default/store"}
}

// TestDataNeedsConsent: what may hold data and left the configuration stays, and is listed again each time, until the
// user agrees. All else goes at once.
func TestDataNeedsConsent(t *testing.T) {
	c, events := connect(t)
	const group = "data.example.com"
	o := ApplyOptions{Set: &Set{Project: "data", Namespace: "default"}}
	mustApply(t, c, dataObjects(group)+"\n---\n"+configMap("rest"), o)
	events.lines = nil
	rest := configMap("rest")
	for n := range 2 {
		before := preview(t, c, objects(t, rest), o)
		mustApply(t, c, rest, o)
		if deleted := slices.Contains(events.lines, "deleted configmap/default/plain"); deleted != (n == 0) {
			t.Errorf("run %d: %q", n, events.lines)
		}
		for _, name := range dataNames(group) {
			if !slices.Contains(events.lines, "kept "+name) {
				t.Errorf("run %d does not keep %s: %q", n, name, events.lines)
			}
			if !slices.ContainsFunc(before, func(line string) bool {
				return strings.HasPrefix(line, "kept "+name+" ") && strings.Contains(line, "`slipway kubectl ")
			}) {
				t.Errorf("preview %d of %s: %q", n, name, before)
			}
		}
		events.lines = nil
	}
	asked := ""
	o.Consent = func(_ context.Context, question string) (bool, error) { asked = question; return true, nil }
	before := preview(t, c, objects(t, rest), o)
	mustApply(t, c, rest, o)
	for _, name := range dataNames(group) {
		if !slices.Contains(events.lines, "deleted "+name) || !strings.Contains(asked, "\n  "+name) || !slices.Contains(before, "deleted "+name+" left from an earlier deployment") {
			t.Errorf("%s: events %q, preview %q, question %q", name, events.lines, before, asked)
		}
	}
	if err := c.Delete(t.Context(), objects(t, rest), DeleteOptions{Set: o.Set}); err != nil {
		t.Fatal(err)
	}
}

// TestRemovalAsksForData: a removal asks for claims of the manifests, which apply does not bring back, and for a Secret
// that the manifests have no more, but not for one that they have.
func TestRemovalAsksForData(t *testing.T) {
	c, _ := connect(t)
	set := &Set{Project: "removed", Namespace: "default"}
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: removed, namespace: default}\nspec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Mi}}}"
	had := strings.ReplaceAll(secret, "creds", "had")
	mustApply(t, c, claim+"\n---\n"+secret+"\n---\n"+had, ApplyOptions{Set: set})
	now := claim + "\n---\n" + had
	mustApply(t, c, now, ApplyOptions{Set: set})
	differences, err := c.PreviewDelete(t.Context(), objects(t, now), DeleteOptions{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	lines := words(differences)
	for _, line := range []string{
		"deleted persistentvolumeclaim/default/removed it may hold data, so a prompt comes first",
		"deleted secret/default/creds left from an earlier deployment; it may hold data, so a prompt comes first", "deleted secret/default/had",
	} {
		if !slices.Contains(lines, line) {
			t.Errorf("preview has no %q: %q", line, lines)
		}
	}
	asked := ""
	refuse := func(_ context.Context, question string) (bool, error) { asked = question; return false, nil }
	if err := c.Delete(t.Context(), objects(t, now), DeleteOptions{Set: set, Consent: refuse}); err != nil {
		t.Fatal(err)
	}
	const want = "this deletes objects that may hold data:\n  persistentvolumeclaim/default/removed\n  secret/default/creds\nDelete all of it? [y/n]"
	if asked != want || at(t, c, claim) == nil || at(t, c, had) == nil {
		t.Errorf("asked %q, want %q; or a refusal deleted an object", asked, want)
	}
	if err := c.Delete(t.Context(), objects(t, now), DeleteOptions{Set: set, Consent: agree}); err != nil {
		t.Fatal(err)
	}
}

// TestKeepMarks: an object that its user marked stays whatever is agreed to, with what it is in, and so does the
// inventory that lists it.
func TestKeepMarks(t *testing.T) {
	c, events := connect(t)
	const space = "apiVersion: v1\nkind: Namespace\nmetadata: {name: marked}"
	for _, mark := range []string{"helm.sh/resource-policy: keep", "client.lifecycle.config.k8s.io/deletion: detach", "kustomize.toolkit.fluxcd.io/prune: disabled"} {
		o := ApplyOptions{Set: &Set{Project: "marked", Namespace: "default"}, Consent: agree}
		marked := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: marked, namespace: marked, annotations: {\"" + strings.Replace(mark, ": ", "\": ", 1) + "}}"
		mustApply(t, c, space+"\n---\n"+marked+"\n---\n"+configMap("unmarked"), o)
		events.lines = nil
		lines := preview(t, c, objects(t, configMap("unmarked")), o)
		want := []string{"unchanged configmap/default/unmarked", "kept configmap/marked/marked left from an earlier deployment, but marked with " + mark,
			"kept namespace/marked left from an earlier deployment, but configmap/marked/marked would be deleted with it", "unchanged configmap/default/slipway-marked"}
		if !slices.Equal(lines, want) {
			t.Errorf("preview: %q\nwant %q", lines, want)
		}
		mustApply(t, c, configMap("unmarked"), o)
		events.want(t, "unchanged configmap/default/unmarked", "kept configmap/marked/marked", "kept namespace/marked", "unchanged configmap/default/slipway-marked")
		if err := c.Delete(t.Context(), objects(t, configMap("unmarked")), DeleteOptions{Set: o.Set, Consent: agree}); err != nil {
			t.Fatal(err)
		}
		events.want(t, "kept configmap/marked/marked", "kept namespace/marked", "deleted configmap/default/unmarked", "kept configmap/default/slipway-marked")

		// Without the mark the inventory still finds it.
		unmarked := at(t, c, marked)
		unmarked.SetAnnotations(nil)
		resource, unmarked, err := c.locate(t.Context(), unmarked, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resource.Update(t.Context(), unmarked, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), objects(t, configMap("unmarked")), DeleteOptions{Set: o.Set, Consent: agree}); err != nil {
			t.Fatal(err)
		}
		events.want(t, "unchanged configmap/default/unmarked", "deleted configmap/marked/marked", "deleted namespace/marked", "deleted configmap/default/slipway-marked")
	}
}

// TestLeftNamespaceInUse: a namespace that left the configuration stays while objects of the configuration are in it.
func TestLeftNamespaceInUse(t *testing.T) {
	c, events := connect(t)
	const space, inside = "apiVersion: v1\nkind: Namespace\nmetadata: {name: inuse}", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: inuse}"
	o := ApplyOptions{Set: &Set{Project: "inuse", Namespace: "default"}, Consent: agree}
	mustApply(t, c, space+"\n---\n"+inside, o)
	mustApply(t, c, inside, o)
	if !slices.Contains(events.lines, "kept namespace/inuse") || at(t, c, inside) == nil {
		t.Errorf("%q", events.lines)
	}
	if err := c.Delete(t.Context(), objects(t, space+"\n---\n"+inside), DeleteOptions{Set: o.Set}); err != nil {
		t.Fatal(err)
	}
}

// TestInstallKeepsList: a deployment of definitions alone adds theirs to an inventory that lists objects, and removes
// none of the others.
func TestInstallKeepsList(t *testing.T) {
	c, _ := connect(t)
	const group = "listed.example.com"
	crd := definition(group, "x")
	set := &Set{Project: "listed", Namespace: "default"}
	alone := *set
	alone.DefinitionsOnly = true
	mustApply(t, c, configMap("listed"), ApplyOptions{Set: set})
	mustApply(t, c, crd, ApplyOptions{Set: &alone})
	parent, err := c.liveParent(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []string{crd, configMap("listed")} {
		live := at(t, c, object)
		if uid := rosterOf(parent)[identityOf(live)]; uid != live.GetUID() {
			t.Errorf("the inventory has %s with UID %q", nameOf(live), uid)
		}
	}
	if err := c.Delete(t.Context(), objects(t, crd+"\n---\n"+configMap("listed")), DeleteOptions{Set: set, Consent: never(t)}); err != nil {
		t.Fatal(err)
	}
	if at(t, c, crd) != nil {
		t.Error("the definition is still there")
	}
}

// TestRoster: what an inventory lists is what is read from it, in any order, and lines of another form list nothing.
func TestRoster(t *testing.T) {
	r := roster{}
	for _, object := range objects(t, configMap("a")+"\n---\n"+definition("x.example.com", "x")+"\n---\n"+fleet) {
		object.SetUID("1-2")
		r.add(object)
	}
	r[identity{namespaceKind, "", "announced"}] = ""
	if got := parseRoster(r.String()); got.String() != r.String() || len(got) != len(r) {
		t.Errorf("%q became %q", r, got)
	}
	if got := parseRoster("one\na b c d\n\n \n"); len(got) != 0 {
		t.Errorf("listed %q", got)
	}
}

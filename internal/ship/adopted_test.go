package ship

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// TestAdopted: a removal asks before it deletes what `kubectl apply` created and the deployment took over, however
// often it was deployed since, and not for what the deployment created. A manifest cannot make itself either.
func TestAdopted(t *testing.T) {
	c, events := connect(t)
	set := &Set{Project: "adopted", Namespace: "default"}
	claiming := strings.Replace(configMap("created"), "namespace: default", "namespace: default, annotations: {"+adoptedAnnotation+": x}", 1)
	text := configMap("taken") + "\n---\n" + claiming
	kubectlApply(t, c, configMap("taken"))
	for range 2 {
		mustApply(t, c, text, ApplyOptions{Set: set})
	}
	if annotations := at(t, c, claiming).GetAnnotations(); len(annotations) > 0 {
		t.Errorf("annotations %v", annotations)
	}
	events.lines = nil
	differences, err := c.PreviewDelete(t.Context(), objects(t, text), DeleteOptions{Set: set})
	if lines := words(differences); err != nil || !slices.Equal(lines[:2], []string{"deleted configmap/default/taken another tool created it, so a prompt comes first", "deleted configmap/default/created"}) {
		t.Errorf("preview: %q, %v", lines, err)
	}
	asked := ""
	refuse := func(_ context.Context, question string) (bool, error) { asked = question; return false, nil }
	if err := c.Delete(t.Context(), objects(t, text), DeleteOptions{Set: set, Consent: refuse}); err != nil {
		t.Fatal(err)
	}
	if want := "this deletes objects that other tools created before this deployment:\n  configmap/default/taken\nDelete all of it? [y/n]"; asked != want || at(t, c, configMap("taken")) == nil {
		t.Errorf("asked %q, want %q; or a refusal deleted the object", asked, want)
	}
	events.want(t)
	mustApply(t, c, claiming, ApplyOptions{Set: set})
	events.want(t, "unchanged configmap/default/created", "kept configmap/default/taken", "unchanged configmap/default/slipway-adopted")
	if err := c.Delete(t.Context(), objects(t, text), DeleteOptions{Set: set, Consent: agree}); err != nil {
		t.Fatal(err)
	}
	events.want(t, "deleted configmap/default/taken", "deleted configmap/default/created", "deleted configmap/default/slipway-adopted")
}

// TestAdoptedHook: webhooks that left the configuration go first of all, but not what `kubectl apply` created.
func TestAdoptedHook(t *testing.T) {
	c, events := connect(t)
	const hook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: adopted}\nwebhooks: []"
	o := ApplyOptions{Set: &Set{Project: "adopted-hook", Namespace: "default"}}
	kubectlApply(t, c, hook)
	mustApply(t, c, configMap("beside")+"\n---\n"+hook, o)
	asked := 0
	o.Consent = func(context.Context, string) (bool, error) { asked++; return false, nil }
	kept := []string{"unchanged configmap/default/beside", "kept validatingwebhookconfiguration/adopted", "unchanged configmap/default/slipway-adopted-hook"}
	lines := preview(t, c, objects(t, configMap("beside")), o)
	events.lines = nil
	mustApply(t, c, configMap("beside"), o)
	events.want(t, kept...)
	if at(t, c, hook) == nil || asked != 2 || len(lines) != len(kept) || !strings.HasPrefix(lines[1], kept[1]) {
		t.Errorf("asked %d times, or it is gone; preview: %q", asked, lines)
	}
	o.Consent = agree
	mustApply(t, c, configMap("beside"), o)
	events.want(t, "unchanged configmap/default/beside", "deleted validatingwebhookconfiguration/adopted", "updated configmap/default/slipway-adopted-hook")
}

// TestAdoptedDefinition: definitions that are installed without an inventory record it as well. One that is deleted and
// created anew by the deployment is its own.
func TestAdoptedDefinition(t *testing.T) {
	c, _ := connect(t)
	set := &Set{Project: "adopted", Namespace: "adopted-system", DefinitionsOnly: true}
	crd := definition("adopted.example.com", "x")
	kubectlApply(t, c, crd)
	mustApply(t, c, crd, ApplyOptions{Set: set})
	asked := ""
	refuse := func(_ context.Context, question string) (bool, error) { asked = question; return false, nil }
	if err := c.Delete(t.Context(), objects(t, crd), DeleteOptions{Set: set, Consent: refuse}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(asked, "\n  crd/boats.adopted.example.com\n") || at(t, c, crd) == nil {
		t.Errorf("asked %q", asked)
	}
	if err := c.Delete(t.Context(), objects(t, crd), DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	mustApply(t, c, crd, ApplyOptions{Set: set})
	if err := c.Delete(t.Context(), objects(t, crd), DeleteOptions{Set: set, Consent: never(t)}); err != nil {
		t.Fatal(err)
	}
	if at(t, c, crd) != nil {
		t.Error("the definition is still there")
	}
}

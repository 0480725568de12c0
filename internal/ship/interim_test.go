package ship

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// hulls is a definition with versions, such as "v1 v2*", of which the one with the star is stored. The conversion is
// YAML.
func hulls(t *testing.T, versions, conversion string) *unstructured.Unstructured {
	t.Helper()
	text := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: hulls.upgrade.example.com}
spec:
  group: upgrade.example.com
  names: {kind: Hull, listKind: HullList, plural: hulls, singular: hull}
  scope: Namespaced
  conversion: ` + conversion + `
  versions:
`
	for version := range strings.FieldsSeq(versions) {
		name, stored := strings.CutSuffix(version, "*")
		text += "  - {name: " + name + ", served: true, storage: " + map[bool]string{true: "true", false: "false"}[stored] +
			", schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {length: {type: integer}}}}}}}\n"
	}
	return objects(t, text)[0]
}

const (
	noConversion = "{strategy: None}"
	toNowhere    = "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: gone, namespace: default, path: /convert}}}}"
)

// shape is a definition in short: as hulls takes it, and the strategy of its conversion.
func shape(definition *unstructured.Unstructured) string {
	var parts []string
	for _, version := range versionsIn(definition) {
		name, _ := version["name"].(string)
		if version["storage"] == true {
			name += "*"
		}
		parts = append(parts, name)
	}
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	return strings.Join(append(parts, strategy), " ")
}

// TestHoldDefinition: until the new version of an operator answers, clients of the one before are served and their
// objects stored as before.
func TestHoldDefinition(t *testing.T) {
	for name, test := range map[string]struct {
		live, stored, wanted string // versions; stored is what the status lists
		before, after        string // conversions
		interim              string // empty if the definition is applied at once
	}{
		"a version that is stored":           {"v1*", "v1", "v1 v2*", noConversion, toNowhere, "v1* v2 Webhook"},
		"a version that is not stored":       {"v1*", "v1", "v1* v2", noConversion, toNowhere, ""},
		"without a webhook":                  {"v1*", "v1", "v1 v2*", noConversion, noConversion, ""},
		"nothing new":                        {"v1 v2*", "v1 v2", "v1 v2*", toNowhere, toNowhere, ""},
		"a conversion that two versions get": {"v1* v2", "v1", "v1* v2", noConversion, toNowhere, "v1* v2 None"},
		"back, where none is stored as v2":   {"v1* v2", "v1", "v1*", toNowhere, noConversion, "v1* v2 Webhook"},
		"back, where some are stored as v2":  {"v1 v2*", "v1 v2", "v1*", toNowhere, noConversion, "v1* v2 Webhook"},
		"forth, without the old version":     {"v1 v2*", "v1 v2", "v2*", toNowhere, noConversion, "v2* v1 Webhook"},
	} {
		t.Run(name, func(t *testing.T) {
			live, wanted := hulls(t, test.live, test.before), hulls(t, test.wanted, test.after)
			if err := unstructured.SetNestedStringSlice(live.Object, strings.Fields(test.stored), "status", "storedVersions"); err != nil {
				t.Fatal(err)
			}
			live.SetManagedFields([]metav1.ManagedFieldsEntry{{
				Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", APIVersion: "apiextensions.k8s.io/v1",
				FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:conversion":{"f:strategy":{}}}}`), // the manifests brought it
			}})
			u := &upgrade{application: &application{interim: map[*unstructured.Unstructured]bool{}}, held: map[*unstructured.Unstructured]*unstructured.Unstructured{}}
			if err := u.holdDefinition(wanted, live); err != nil {
				t.Fatal(err)
			}
			interim, held := u.held[wanted]
			switch {
			case held != (test.interim != ""):
				t.Errorf("held: %v", held)
			case held && shape(interim) != test.interim:
				t.Errorf("the interim form is %s, not %s", shape(interim), test.interim)
			}
		})
	}
}

// TestHoldReplaced: a definition that has no version of the one before is refused while objects may be stored in those.
func TestHoldReplaced(t *testing.T) {
	live := hulls(t, "v1*", noConversion)
	if err := unstructured.SetNestedStringSlice(live.Object, []string{"v1"}, "status", "storedVersions"); err != nil {
		t.Fatal(err)
	}
	known := failure(t, (&upgrade{application: &application{interim: map[*unstructured.Unstructured]bool{}}, held: map[*unstructured.Unstructured]*unstructured.Unstructured{}}).
		holdDefinition(hulls(t, "v2*", noConversion), live))
	if !strings.Contains(known.What, "stored as v1") || !strings.Contains(known.Hint, "with both versions first") {
		t.Errorf("%v\nhint %s", known, known.Hint)
	}
}

// TestIgnoring: failures of webhooks are ignored until they answer, but not of those that the API server calls already.
func TestIgnoring(t *testing.T) {
	const configuration = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hulls}
webhooks:
- {name: old.example.com, clientConfig: {service: {name: own, namespace: here}}, failurePolicy: OLD}
- {name: new.example.com, clientConfig: {service: {name: own, namespace: here}}, failurePolicy: NEW}
- {name: url.example.com, clientConfig: {url: "https://example.com"}, failurePolicy: Fail}
`
	with := func(old, recent string) *unstructured.Unstructured {
		return objects(t, strings.NewReplacer("OLD", old, "NEW", recent).Replace(configuration))[0]
	}
	service := objects(t, "apiVersion: v1\nkind: Service\nmetadata: {name: own, namespace: here}\n")
	wanted := with("Fail", "Fail")
	for name, test := range map[string]struct {
		live *unstructured.Unstructured
		of   []*unstructured.Unstructured
		want string // policies; empty if the configuration is applied at once
	}{
		"none before":             {nil, service, "Ignore Ignore Fail"},
		"one that fails":          {with("Fail", "Ignore"), service, "Fail Ignore Fail"},
		"all that fail":           {with("Fail", "Fail"), service, ""},
		"a Service of other kind": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			soft := ignoring(wanted, test.live, test.of)
			var got []string
			for _, hook := range hooksOf(soft) {
				got = append(got, hook["failurePolicy"].(string))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("the policies are %q, not %q", got, test.want)
			}
		})
	}
}

// TestInterimRole: the rules of before stay beside the new ones, each once.
func TestInterimRole(t *testing.T) {
	role := func(rules string) *unstructured.Unstructured {
		return objects(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\nrules: "+rules+"\n")[0]
	}
	interim := interimRole(role("[{verbs: [get]}, {verbs: [list]}]"), role("[{verbs: [list]}, {verbs: [watch]}]"))
	rules, _, _ := unstructured.NestedSlice(interim.Object, "rules")
	if len(rules) != 3 {
		t.Errorf("the rules are %v", rules)
	}
	if interimRole(role("[{verbs: [get]}]"), nil) != nil {
		t.Error("a new role has an interim form")
	}
}

// TestStoredVersions brings a second version that is stored, with and without an answer of its conversion, and takes it
// back.
func TestStoredVersions(t *testing.T) {
	c, events := connect(t)
	group := fmt.Sprintf("upgrade%d.example.com", time.Now().UnixNano()) // the server remembers a definition that is gone for a moment
	hulls := func(t *testing.T, versions, conversion string) *unstructured.Unstructured {
		definition := hulls(t, versions, conversion)
		definition.SetName("hulls." + group)
		definition.Object["spec"].(map[string]any)["group"] = group
		return definition
	}
	resource := func(version string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: group, Version: version, Resource: "hulls"}
	}
	apply := func(versions, conversion string) {
		t.Helper()
		events.lines = nil
		if err := c.Apply(t.Context(), []*unstructured.Unstructured{hulls(t, versions, conversion)}, ApplyOptions{Set: &Set{Project: "hulls", DefinitionsOnly: true}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(stored, readable string) {
		t.Helper()
		live, err := c.objects.Resource(crdResource).Get(t.Context(), "hulls."+group, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, _, _ := unstructured.NestedStringSlice(live.Object, "status", "storedVersions")
		if strings.Join(got, " ") != stored {
			t.Errorf("objects may be stored as %v, not as %s", got, stored)
		}
		for version := range strings.FieldsSeq(readable) {
			var hull *unstructured.Unstructured
			err := poll(t.Context(), settling, func(ctx context.Context) (bool, error) { // a version is listed a moment before it is served
				var err error
				hull, err = c.objects.Resource(resource(version)).Namespace("default").Get(ctx, "first", metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return false, nil
				}
				return true, err
			})
			if err != nil {
				t.Fatal(err)
			}
			if length, _, _ := unstructured.NestedInt64(hull.Object, "spec", "length"); length != 7 {
				t.Errorf("as %s the length is %d", version, length)
			}
		}
	}
	first := hulls(t, "v1*", noConversion)
	t.Cleanup(func() { _ = c.Delete(t.Context(), []*unstructured.Unstructured{first}, DeleteOptions{}) })

	apply("v1*", noConversion)
	hull := objects(t, "apiVersion: "+group+"/v1\nkind: Hull\nmetadata: {name: first, namespace: default}\nspec: {length: 7}\n")
	if err := c.Apply(t.Context(), hull, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	check("v1", "v1")

	apply("v1 v2*", toNowhere)
	check("v1", "v1")
	if told := strings.Join(events.lines, ";"); !strings.HasPrefix(told, "updated crd/hulls") {
		t.Errorf("it says %s", told)
	}
	apply("v1 v2*", toNowhere)
	if told := strings.Join(events.lines, ";"); !strings.HasPrefix(told, "unchanged crd/hulls") {
		t.Errorf("a second run says %s", told)
	}
	apply("v1*", noConversion)
	check("v1", "v1")

	apply("v1 v2*", noConversion)
	check("v1 v2", "v1 v2")
	if _, err := c.objects.Resource(resource("v2")).Namespace("default").Patch(t.Context(), "first", "application/merge-patch+json", []byte(`{"metadata":{"labels":{"stored":"again"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	apply("v1*", noConversion)
	check("v1", "v1")
	apply("v1*", noConversion)
	if told := strings.Join(events.lines, ";"); !strings.HasPrefix(told, "unchanged crd/hulls") {
		t.Errorf("a second run says %s", told)
	}
}

// TestHoldResource: a custom resource waits for the conversion, unless it is new and comes in the stored version: an
// operator may need it to get ready.
func TestHoldResource(t *testing.T) {
	c, _ := connect(t)
	definition := hulls(t, "v1* v2", toNowhere)
	hull := func(version string) *unstructured.Unstructured {
		return objects(t, "apiVersion: upgrade.example.com/"+version+"\nkind: Hull\nmetadata: {name: "+version+", namespace: default}\n")[0]
	}
	stored, other := hull("v1"), hull("v2")
	u, err := (&application{cluster: c, interim: map[*unstructured.Unstructured]bool{}}).
		planUpgrade(t.Context(), []*unstructured.Unstructured{other, stored, definition}, true)
	if err != nil {
		t.Fatal(err)
	}
	if held := u.heldObjects(); len(held) != 1 || held[0] != other {
		t.Errorf("held are %v", held)
	}
}

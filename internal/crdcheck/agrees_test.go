package crdcheck_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/crdcheck"
	"github.com/slipway-dev/slipway/internal/report"
)

// mutants is how many definitions are compared.
const mutants = 320

// TestAgreesWithAnAPIServer draws definitions with mistakes of many kinds and has them checked, and created (dry run)
// in a cluster: what the cluster takes is not refused, and what it does not take is.
func TestAgreesWithAnAPIServer(t *testing.T) {
	if os.Getenv("SLIPWAY_CHECK") == "" || os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("SLIPWAY_CHECK and SLIPWAY_CLUSTER name no programs; `make test` does")
	}
	checker := crdcheck.New(os.Getenv, report.Discard)
	definitions := served(t)
	random := rand.New(rand.NewPCG(4, 0))
	var files []crdcheck.File
	var objects []*unstructured.Unstructured
	for i := range mutants {
		object := mutant(random, i)
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
		files = append(files, crdcheck.File{Name: fmt.Sprint(i), Content: string(text)})
	}
	findings, err := checker.Check(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(map[string][]string)
	for _, f := range findings {
		if f.Refused {
			refused[f.File] = append(refused[f.File], f.Path+": "+f.Message)
		}
	}
	taken := 0
	for i, object := range objects {
		_, err := definitions.Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		panicked := err != nil && strings.Contains(err.Error(), "INTERNAL_ERROR") // the server ends the stream then
		if err != nil && !panicked && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			t.Fatalf("%s: the cluster did not judge it: %v", files[i].Content, err)
		}
		if err == nil {
			taken++
		}
		if (err == nil) != (len(refused[files[i].Name]) == 0) {
			t.Errorf("%.3000s:\ncluster: %v\nchecker: %s", files[i].Content, err, strings.Join(refused[files[i].Name], "\n         "))
		}
	}
	t.Logf("%d definitions, of which the cluster takes %d", mutants, taken)
	if taken < mutants/10 || taken > mutants*9/10 {
		t.Error("the draw is of no use: both kinds must occur")
	}
}

// served are the definitions of a cluster that lives as long as the test.
func served(t *testing.T) dynamic.ResourceInterface {
	t.Helper()
	env := map[string]string{"SLIPWAY_STATE": t.TempDir(), "SLIPWAY_CLUSTER": os.Getenv("SLIPWAY_CLUSTER"), "KUBECONFIG": t.TempDir() + "/kubeconfig"}
	control := clusterctl.New(func(key string) string { return env[key] }, report.Discard)
	session, err := control.Tie(t.Context(), "definitions", clusterctl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	config, err := clientcmd.BuildConfigFromFlags("", session.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{} // the checker has warnings of its own
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
}

type object = map[string]any

// mutant is a right definition to which up to three changes are made, most of them mistakes.
func mutant(random *rand.Rand, i int) *unstructured.Unstructured {
	spec := object{"type": "object", "properties": object{
		"name": object{"type": "string", "maxLength": int64(20)},
		"size": object{"type": "integer", "format": "int32", "default": int64(3)},
		"parts": object{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"id"}, "maxItems": int64(10),
			"items": object{"type": "object", "required": []any{"id"}, "properties": object{"id": object{"type": "string", "maxLength": int64(8)}}}},
	}}
	name := fmt.Sprintf("things%d", i)
	version := object{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{"spec": spec}}}}
	crd := object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": name + ".example.com"},
		"spec": object{"group": "example.com", "scope": "Namespaced", "versions": []any{version},
			"names": object{"plural": name, "singular": fmt.Sprintf("thing%d", i), "kind": fmt.Sprintf("Thing%d", i), "listKind": fmt.Sprintf("Thing%dList", i)}},
	}
	for range 1 + random.IntN(3) {
		changes[random.IntN(len(changes))](random, spec, version, crd)
	}
	return &unstructured.Unstructured{Object: crd}
}

// field is one of the schema's fields.
func field(random *rand.Rand, spec object) object {
	return spec["properties"].(object)[[]string{"name", "size", "parts"}[random.IntN(3)]].(object)
}

func pick(random *rand.Rand, values ...any) any { return values[random.IntN(len(values))] }

func rules(texts ...any) []any {
	var all []any
	for _, text := range texts {
		all = append(all, object{"rule": text, "message": "no"})
	}
	return all
}

// changes are what is done to definitions: to structure, rules, defaults, lists, names, columns and size. Some are
// right.
var changes = []func(random *rand.Rand, spec, version, crd object){
	func(r *rand.Rand, spec, _, _ object) { delete(field(r, spec), "type") },
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["type"] = pick(r, "string", "integer", "number", "boolean", "array", "object", "text", "")
	},
	func(r *rand.Rand, spec, _, _ object) { field(r, spec)["nullable"] = true },
	func(r *rand.Rand, spec, _, _ object) { field(r, spec)["uniqueItems"] = pick(r, true, false) },
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["default"] = pick(r, "text", int64(7), 1.5, true, []any{}, []any{object{"id": "a", "more": "b"}}, object{}, strings.Repeat("x", 30))
	},
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["additionalProperties"] = pick(r, true, false, object{"type": "string"})
	},
	func(r *rand.Rand, spec, _, _ object) {
		spec["additionalProperties"] = pick(r, true, object{"type": "string"})
	},
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["anyOf"] = pick(r, []any{object{"minLength": int64(1)}}, []any{object{"type": "string"}}, []any{object{"default": "x"}}, []any{})
	},
	func(r *rand.Rand, spec, _, _ object) { field(r, spec)["x-kubernetes-int-or-string"] = true },
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["x-kubernetes-preserve-unknown-fields"] = pick(r, true, false)
	},
	func(r *rand.Rand, spec, _, _ object) { field(r, spec)["x-kubernetes-embedded-resource"] = true },
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["x-kubernetes-list-type"] = pick(r, "map", "set", "atomic", "other")
	},
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["x-kubernetes-map-type"] = pick(r, "granular", "atomic", "other")
	},
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["x-kubernetes-list-map-keys"] = pick(r, []any{"id"}, []any{"other"}, []any{"id", "id"}, []any{})
	},
	func(_ *rand.Rand, spec, _, _ object) {
		if items, ok := spec["properties"].(object)["parts"].(object)["items"].(object); ok {
			delete(items, "required")
		}
	},
	func(_ *rand.Rand, spec, _, _ object) { delete(spec["properties"].(object)["parts"].(object), "items") },
	func(r *rand.Rand, spec, _, _ object) { field(r, spec)["pattern"] = pick(r, "^a+$", "(", "[a") },
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["format"] = pick(r, "date-time", "nonsense", "int64")
	},
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["enum"] = pick(r, []any{"a", "b"}, []any{"a", "a"}, []any{int64(1)})
	},
	func(r *rand.Rand, spec, _, _ object) { field(r, spec)["maxItems"] = pick(r, int64(5), int64(-1)) },
	func(r *rand.Rand, spec, _, _ object) { field(r, spec)["$ref"] = "#/definitions/x" },
	func(r *rand.Rand, spec, _, _ object) {
		spec["x-kubernetes-validations"] = rules(pick(r, "has(self.name)", "self.nome == 'a'", "self.size > 1 &&", "self.size", "self.size > 'a'", "self.size >= oldSelf.size", "",
			"self.parts.all(p, self.parts.all(q, p.id != q.id || p == q))", "self.parts.exists(p, p.id.matches('('))", "self.name.startsWith(self)"))
	},
	func(r *rand.Rand, spec, _, _ object) {
		delete(spec["properties"].(object)["parts"].(object), "maxItems")
		spec["x-kubernetes-validations"] = rules(pick(r, "self.parts.all(p, self.parts.all(q, self.parts.all(s, p.id != s.id)))", "self.parts.size() < 4"))
	},
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["x-kubernetes-validations"] = rules(pick(r, "self != ''", "self.size() > 0", "self > 0", "true"), "true")
	},
	func(r *rand.Rand, spec, _, _ object) {
		field(r, spec)["x-kubernetes-validations"] = []any{object{"rule": "true", "messageExpression": pick(r, "'a'", "1", "self +"), "reason": pick(r, "FieldValueInvalid", "Odd"), "fieldPath": pick(r, "", ".x")}}
	},
	func(r *rand.Rand, _, version, _ object) {
		version["additionalPrinterColumns"] = []any{object{"name": pick(r, "A", ""), "type": pick(r, "string", "date", "text"), "jsonPath": pick(r, ".spec.name", ".spec.none", "{", "")}}
	},
	func(r *rand.Rand, _, version, _ object) {
		version["subresources"] = pick(r, object{"status": object{}}, object{"scale": object{"specReplicasPath": pick(r, ".spec.size", ".status.x", "size"), "statusReplicasPath": ".status.size"}}, object{"scale": object{}})
	},
	func(r *rand.Rand, _, version, _ object) {
		version["selectableFields"] = []any{object{"jsonPath": pick(r, ".spec.name", ".spec.size", ".spec.parts", ".spec.none", ".metadata.name", "spec")}}
	},
	func(r *rand.Rand, _, version, _ object) { version[pick(r, "served", "storage").(string)] = false },
	func(r *rand.Rand, _, version, _ object) { version["name"] = pick(r, "v2", "V1", "a.b", "") },
	func(_ *rand.Rand, _, version, _ object) { delete(version, "schema") },
	func(r *rand.Rand, _, version, crd object) {
		more := object{"name": pick(r, "v1", "v2"), "served": true, "storage": pick(r, true, false), "schema": version["schema"]}
		crd["spec"].(object)["versions"] = []any{version, more}
	},
	func(r *rand.Rand, _, _, crd object) { crd["spec"].(object)["scope"] = pick(r, "Cluster", "Global", "") },
	func(r *rand.Rand, _, _, crd object) {
		crd["spec"].(object)["group"] = pick(r, "example.org", "Example.com", "x.k8s.io", "")
	},
	func(r *rand.Rand, _, _, crd object) {
		crd["spec"].(object)["names"].(object)[pick(r, "kind", "singular", "listKind", "plural").(string)] = pick(r, "Upper", "lower", "with space", "")
	},
	func(r *rand.Rand, _, _, crd object) {
		crd["spec"].(object)["conversion"] = pick(r, object{"strategy": "None"}, object{"strategy": "Webhook"}, object{"strategy": "Other"},
			object{"strategy": "Webhook", "webhook": object{"conversionReviewVersions": []any{"v1"}, "clientConfig": object{"url": "http://a"}}})
	},
	func(r *rand.Rand, _, _, crd object) {
		crd["spec"].(object)["preserveUnknownFields"] = pick(r, true, false)
	},
	func(r *rand.Rand, spec, _, _ object) { // huge, but not more than an API server reads
		many := spec["properties"].(object)
		for i := range 500 + r.IntN(1500) {
			many[fmt.Sprintf("field%d", i)] = object{"type": "string", "description": strings.Repeat("word ", 20)}
		}
	},
}

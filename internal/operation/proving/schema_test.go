package proving

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the schema of scenarios")

// schemaFile is the published schema of scenarios.
const schemaFile = "../../../docs/reference/prove-scenario.schema.json"

// meanings are what the keys of a scenario mean, by their paths.
var meanings = map[string]string{
	"command":                        "The operator, as words, in place of the project's manager. {kubeconfig} and {SERVICE.port} are replaced, and {port} by a free port of each process.",
	"operators":                      "Several operators that are proved together, in place of command and serviceAccount.",
	"operators.name":                 "The name of the operator in messages.",
	"operators.command":              "The operator, as words. {kubeconfig} and {SERVICE.port} are replaced, and {port} by a free port of each process.",
	"operators.serviceAccount":       "NAMESPACE/NAME whose rights the operator has. Without it, the operator has all rights.",
	"operators.env":                  "Variables of this operator, over those of all operators.",
	"serviceAccount":                 "NAMESPACE/NAME whose rights such an operator has. Without it, the operator has all rights.",
	"install":                        "Files and kustomizations to apply before the operator starts, relative to the scenario.",
	"env":                            "Variables of the operator. {SERVICE.port} and {port} are replaced.",
	"services":                       "Programs that play services outside of the cluster, one of each for each cluster.",
	"services.name":                  "The name, for {NAME.port} in other words.",
	"services.command":               "The program, as words. {port} is replaced by a free port of 127.0.0.1, on which it has to listen.",
	"services.reset":                 "A command that empties the service before each run. {port} is replaced.",
	"patience":                       "How long nothing may happen before another state counts, 700ms by default.",
	"steps":                          "What users do, in order.",
	"steps.name":                     "The name in messages.",
	"steps.apply":                    "An object for a server-side apply.",
	"steps.patch":                    "An object's identity, and the fields of a merge patch.",
	"steps.delete":                   "An object's identity.",
	"steps.scale":                    "An object's identity, and its replicas, which the scale subresource gets.",
	"steps.scale.apiVersion":         "The API version of the object.",
	"steps.scale.kind":               "The kind of the object.",
	"steps.scale.metadata":           "Names the object.",
	"steps.scale.metadata.name":      "The name of the object.",
	"steps.scale.metadata.namespace": "The namespace of the object, default by default.",
	"steps.scale.replicas":           "How many replicas the object is to have.",
	"steps.exec":                     "A command, as words, in the scenario's folder with the KUBECONFIG of an administrator. {SERVICE.port} is replaced.",
	"steps.until":                    "The step is not over before it holds: an expression in CEL over object and objects, or a condition in the object's status.",
	"steps.patience":                 "The patience of this step, in place of the scenario's. For exec, also how long the command may take, 30s by default.",
	"ignore":                         "What differs by nature between two runs.",
	"ignore.kind":                    "The kind of the objects. Without it, all kinds.",
	"ignore.name":                    "NAMESPACE/NAME, or NAME of an object that has no namespace; * at the end stands for any rest.",
	"ignore.fields":                  "Paths of fields, such as data.started. Without them, the whole object.",
	"invariants":                     "Conditions that hold after each write.",
	"invariants.name":                "The name in messages.",
	"invariants.kind":                "The kind of the objects that the invariant is about. Without it, all objects.",
	"invariants.that":                "An expression in CEL over objects.",
}

// required are the keys that a mapping has to have.
var required = map[string][]string{"": {"steps"}, "services": {"name", "command"}, "operators": {"name", "command"}, "steps.scale": {"apiVersion", "kind", "metadata", "replicas"}, "steps.scale.metadata": {"name"}, "invariants": {"name", "that"}}

// schemaOf is the schema of what YAML makes a value of a type of.
func schemaOf(t *testing.T, of reflect.Type, path string, seen map[string]bool) *jsonschema.Schema {
	t.Helper()
	zero, most := 0.0, 1000.0
	text := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }
	switch of {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+(ms|s|m)([0-9.]+(ms|s))*$`}
	case reflect.TypeFor[yaml.Node](): // until
		fields := only("type", text(), "status", &jsonschema.Schema{Enum: []any{"True", "False", "Unknown"}})
		fields.Required = []string{"type"}
		condition := only("condition", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text(), fields}})
		condition.Required = []string{"condition"}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text(), condition}}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return schemaOf(t, of.Elem(), path, seen)
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: schemaOf(t, of.Elem(), path, seen)}
	case reflect.String:
		return text()
	case reflect.Int64:
		return &jsonschema.Schema{Type: "integer", Minimum: &zero, Maximum: &most}
	case reflect.Map:
		if of.Elem().Kind() == reflect.String {
			return &jsonschema.Schema{Type: "object", AdditionalProperties: text()}
		}
		return &jsonschema.Schema{Type: "object", Required: []string{"apiVersion", "kind", "metadata"}}
	case reflect.Struct:
		return structSchema(t, of, path, seen)
	}
	t.Fatalf("%s: no schema for %s", path, of)
	return nil
}

// only is the schema of a mapping with these keys, each before its schema, and no others.
func only(keys ...any) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for i := 0; i < len(keys); i += 2 {
		s.Properties[keys[i].(string)] = keys[i+1].(*jsonschema.Schema)
		s.PropertyOrder = append(s.PropertyOrder, keys[i].(string))
	}
	return s
}

func structSchema(t *testing.T, of reflect.Type, path string, seen map[string]bool) *jsonschema.Schema {
	t.Helper()
	s := only()
	s.Required = required[path]
	for i := range of.NumField() {
		key := of.Field(i).Tag.Get("yaml")
		if key == "" {
			continue
		}
		at := strings.TrimPrefix(path+"."+key, ".")
		seen[at] = true
		s.Properties[key] = schemaOf(t, of.Field(i).Type, at, seen)
		s.Properties[key].Description = meanings[at]
		s.PropertyOrder = append(s.PropertyOrder, key)
		if meanings[at] == "" {
			t.Errorf("the key %s has no meaning", at)
		}
	}
	return s
}

func scenarioSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	seen := map[string]bool{}
	s := schemaOf(t, reflect.TypeFor[file](), "", seen)
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "A scenario of slipway prove"
	for _, verb := range []string{"apply", "patch", "delete", "scale", "exec"} {
		step := s.Properties["steps"].Items
		step.OneOf = append(step.OneOf, &jsonschema.Schema{Required: []string{verb}})
	}
	for path := range maps.Keys(meanings) {
		if !seen[path] {
			t.Errorf("there is no key %s", path)
		}
	}
	return s
}

// TestSchema: the published schema is that of the keys of scenarios; -update writes it.
func TestSchema(t *testing.T) {
	got, err := json.MarshalIndent(scenarioSchema(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-published +keys; -update accepts it):\n%s", schemaFile, diff)
	}
}

// TestSchemaAgrees: the schema accepts the scenarios of the guide, as the command does, and both refuse the same keys.
func TestSchemaAgrees(t *testing.T) {
	schema, err := scenarioSchema(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../../docs/guides/proving.md")
	if err != nil {
		t.Fatal(err)
	}
	var right []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		if strings.Contains(block[1], "steps:") {
			right = append(right, block[1])
		}
	}
	if len(right) < 2 {
		t.Errorf("the guide has %d scenarios", len(right))
	}
	wrong := []string{
		"stepps: []", "steps: [{aply: {}}]", stepWith("  until: {conditions: R}"), stepWith("  until: [a]"), stepWith("  until: {condition: {name: R}}"),
		stepWith("services: [{name: db}]"), stepWith("invariants: [{name: a}]"), stepWith("  exec: [ls]"), "steps: [{exec: ls}]", "steps: [{name: a}]",
		"steps: [{scale: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}}]", stepWith("patience: 2"), stepWith("env: [a]"),
	}
	for _, text := range slices.Concat(right, wrong) {
		_, _, refused := parse([]byte(text))
		invalid := validate(schema, text)
		if want := slices.Contains(wrong, text); (refused != nil) != want || (invalid != nil) != want {
			t.Errorf("%s\nthe command: %v\nthe schema: %v", text, refused, invalid)
		}
	}
}

// validate holds a text against the schema.
func validate(schema *jsonschema.Resolved, text string) error {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var instance any
	if err := json.Unmarshal(encoded, &instance); err != nil {
		return fmt.Errorf("decode what was encoded: %w", err)
	}
	return schema.Validate(instance)
}

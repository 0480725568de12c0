package explain

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// boatSchema is what both versions declare, and what each of them has besides.
const boatSchema = `{properties: {spec: {properties: {sails: {type: integer, default: 1}, keel: {type: string}, cabin: {type: boolean}, rig: {properties: {mast: {type: string}}}, labels: {additionalProperties: {type: string}}%s}}}}`

// inVersion is an object as it is read in a version.
func inVersion(t *testing.T, name, more, object string) *version {
	t.Helper()
	v := &version{name: name, object: &unstructured.Unstructured{}}
	schema := fmt.Appendf(nil, boatSchema, more)
	for _, err := range []error{yaml.Unmarshal(schema, &v.schema), yaml.Unmarshal([]byte(object), &v.object.Object)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	v.object.SetAPIVersion("example.com/" + name)
	return v
}

// TestDropped: a field is lost if both versions have it, and the other one has its value nowhere.
func TestDropped(t *testing.T) {
	for name, test := range map[string]struct {
		stored, other, want string
	}{
		"kept":                {`{spec: {keel: long}}`, `{spec: {keel: long}}`, ""},
		"lost":                {`{spec: {keel: long, rig: {mast: oak}}}`, `{spec: {rig: {mast: oak}}}`, ".spec.keel"},
		"lost below":          {`{spec: {keel: long, rig: {mast: oak}}}`, `{spec: {keel: long}}`, ".spec.rig.mast"},
		"lost map":            {`{spec: {labels: {a: b}}}`, `{spec: {}}`, ".spec.labels"},
		"only there":          {`{spec: {hull: steel}}`, `{spec: {}}`, ""},
		"renamed":             {`{spec: {hull: steel}}`, `{spec: {body: steel}}`, ""},
		"lost beside renamed": {`{spec: {hull: steel, keel: long}}`, `{spec: {body: steel}}`, ".spec.keel"},
		"moved":               {`{spec: {keel: long}}`, `{spec: {body: long}}`, ""},
		"in another form":     {`{spec: {keel: 2m}}`, `{spec: {body: "200"}}`, ""},
		"in an annotation":    {`{spec: {keel: long}}`, `{metadata: {annotations: {example.com/v1: '{"keel":"long"}'}}, spec: {}}`, ""},
		"empty":               {`{spec: {keel: "", cabin: false, rig: {}, labels: {}}}`, `{spec: {}}`, ""},
		"default":             {`{spec: {sails: 1}}`, `{spec: {}}`, ""},
		"default there":       {`{spec: {keel: long}}`, `{spec: {sails: 1}}`, ".spec.keel"},
		"status and metadata": {`{metadata: {labels: {a: b}}, status: {keel: long}}`, `{}`, ""},
	} {
		got := dropped(inVersion(t, "v2", ", hull: {type: string}", test.stored), inVersion(t, "v1", ", body: {type: string}", test.other))
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// TestUnset: a field is lost if a manager has set it in the version that has it, and it is not there.
func TestUnset(t *testing.T) {
	managed := func(fields string) string {
		return `metadata: {managedFields: [{manager: m, apiVersion: example.com/v1, fieldsV1: {"f:spec": ` + fields + `}}]}`
	}
	for name, test := range map[string]struct{ object, want string }{
		"there":           {`{` + managed(`{"f:keel": {}}`) + `, spec: {keel: long}}`, ""},
		"lost":            {`{` + managed(`{".": {}, "f:keel": {}}`) + `, spec: {}}`, ".spec.keel"},
		"lost below":      {`{` + managed(`{"f:rig": {".": {}, "f:mast": {}}}`) + `}`, ".spec.rig.mast"},
		"may be false":    {`{` + managed(`{"f:cabin": {}}`) + `, spec: {}}`, ""},
		"not declared":    {`{` + managed(`{"f:deck": {}, "f:labels": {"f:a": {}}}`) + `, spec: {}}`, ""},
		"another version": {`{metadata: {managedFields: [{manager: m, apiVersion: example.com/v2, fieldsV1: {"f:spec": {"f:keel": {}}}}]}}`, ""},
		"of status":       {`{metadata: {managedFields: [{manager: m, apiVersion: example.com/v1, fieldsV1: {"f:status": {"f:keel": {}}}}]}}`, ""},
		"broken":          {`{metadata: {managedFields: [{manager: m, apiVersion: example.com/v1, fieldsV1: []}]}}`, ""},
		"applied true":    {`{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"example.com/v1","spec":{"cabin":true}}'}, managedFields: [{manager: m, apiVersion: example.com/v1, fieldsV1: {"f:spec": {"f:cabin": {}}}}]}}`, ".spec.cabin"},
		"applied false":   {`{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"example.com/v1","spec":{"cabin":false}}'}, managedFields: [{manager: m, apiVersion: example.com/v1, fieldsV1: {"f:spec": {"f:cabin": {}}}}]}}`, ""},
	} {
		if got := unset(inVersion(t, "v1", "", test.object)); got.path != test.want {
			t.Errorf("%s: got %q, want %q", name, got.path, test.want)
		}
	}
}

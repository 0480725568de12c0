package schema

import "github.com/slipway-dev/slipway/internal/generate/internal/load"

// known are the packages with types whose schema does not follow from their
// declaration.
var known = map[string]knownPackage{
	"k8s.io/apimachinery/pkg/apis/meta/v1": {types: map[string]*Schema{
		"ObjectMeta": {Type: "object"},
		"Time":       {Type: "string", Format: "date-time"},
		"MicroTime":  {Type: "string", Format: "date-time"},
		"Duration":   {Type: "string"},
		// FieldsV1 of old: recursive, so it cannot be written out.
		"Fields": {Type: "object", AdditionalProperties: &Additional{}},
	}},
	"k8s.io/apimachinery/pkg/api/resource": {closed: true, types: map[string]*Schema{
		"Quantity": {
			IntOrString: true,
			AnyOf:       []*Schema{{Type: "integer"}, {Type: "string"}},
			Pattern:     `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`,
		},
	}},
	"k8s.io/apimachinery/pkg/util/intstr": {closed: true, types: map[string]*Schema{
		"IntOrString": {IntOrString: true, AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}},
	}},
	"k8s.io/apimachinery/pkg/runtime": {types: map[string]*Schema{
		"RawExtension": {Type: "object", PreserveUnknownFields: true},
	}},
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured": {types: map[string]*Schema{
		"Unstructured": {Type: "object"},
	}},
	"k8s.io/api/core/v1": {types: map[string]*Schema{"Protocol": protocol}},
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1": {types: anyJSON},
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1":      {types: anyJSON},
}

// protocol is corev1.Protocol where its default is known besides.
var protocol = &Schema{Type: "string", Default: []byte(`"TCP"`)}

var anyJSON = map[string]*Schema{"JSON": {PreserveUnknownFields: true}}

// knownPackage are the known types of a package. A closed one has no others.
type knownPackage struct {
	closed bool
	types  map[string]*Schema
}

// embeddedMeta is ObjectMeta with the fields that make sense in a template.
var embeddedMeta = &Schema{Type: "object", Properties: map[string]*Schema{
	"name":        {Type: "string"},
	"namespace":   {Type: "string"},
	"annotations": {Type: "object", AdditionalProperties: &Additional{Schema: &Schema{Type: "string"}}},
	"labels":      {Type: "object", AdditionalProperties: &Additional{Schema: &Schema{Type: "string"}}},
	"finalizers":  {Type: "array", Items: &Schema{Type: "string"}},
}}

// known returns the schema of a known type; found is false for types that their
// declaration describes, and s is nil for those that must not be used.
func (b *Builder) known(d *load.TypeDecl) (s *Schema, found bool) {
	p, ok := known[d.Package.Path]
	if !ok {
		return nil, false
	}
	if d.Name() == "ObjectMeta" && b.options.EmbeddedObjectMeta && p.types["ObjectMeta"] != nil {
		return embeddedMeta, true
	}
	if d.Name() == "ObjectMeta" && b.options.FullObjectMeta {
		return nil, false
	}
	if s = p.types[d.Name()]; s == protocol && !b.loader.Edition().Schemas.TCP {
		return nil, false
	}
	return s, s != nil || p.closed
}

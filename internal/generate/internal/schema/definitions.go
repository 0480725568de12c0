package schema

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/source"
)

const (
	validationPrefix = "kubebuilder:validation:"
	itemsPrefix      = validationPrefix + "items:"
)

// The headings of help.
const (
	definitionCategory = "CRD"
	validationCategory = "CRD validation"
	processingCategory = "CRD processing"
)

// Definitions are the markers that say something about schemas.
func Definitions() []marker.Definition {
	all := []marker.Definition{marker.Define[misplacedEnum]("k8s:enum", marker.Field, "belongs on a type")}
	all = append(all, marker.In(validationCategory, everywhere(validations())...)...)
	all = append(all, marker.In(validationCategory, fieldMarkers()...)...)
	all = append(all, marker.In(validationCategory, typeMarkers()...)...)
	all = append(all, marker.In(validationCategory, packageMarkers()...)...)
	all = append(all, marker.In(processingCategory, everywhere(pruning())...)...)
	all = append(all, marker.In(processingCategory, both(topology())...)...)
	return append(all, marker.In(definitionCategory, definitionMarkers()...)...)
}

// both are the markers at fields and at types.
func both(markers []marker.Definition) []marker.Definition {
	var all []marker.Definition
	for _, d := range markers {
		all = append(all, d, d.On(marker.Type))
	}
	return all
}

// everywhere are the markers at fields and at types, and those for the items of
// the list that they stand at.
func everywhere(markers []marker.Definition) []marker.Definition {
	all := both(markers)
	for _, d := range markers {
		items := d.Named(itemsPrefix + strings.TrimPrefix(d.Name, validationPrefix))
		all = append(all, items, items.On(marker.Type))
	}
	return all
}

// validations stand at fields and types, and with items: before their last part
// mean the items of the list that they stand at.
func validations() []marker.Definition {
	const on = marker.Field
	return []marker.Definition{
		marker.Define[maximum](validationPrefix+"Maximum", on, "is the largest number allowed"),
		marker.Define[minimum](validationPrefix+"Minimum", on, "is the smallest number allowed"),
		marker.Define[exclusiveMaximum](validationPrefix+"ExclusiveMaximum", on, "excludes the maximum itself"),
		marker.Define[exclusiveMinimum](validationPrefix+"ExclusiveMinimum", on, "excludes the minimum itself"),
		marker.Define[multipleOf](validationPrefix+"MultipleOf", on, "is a divisor of the number"),
		marker.Define[minProperties](validationPrefix+"MinProperties", on, "is the minimum number of keys"),
		marker.Define[maxProperties](validationPrefix+"MaxProperties", on, "is the maximum number of keys"),
		marker.Define[maxLength](validationPrefix+"MaxLength", on, "is the maximum length of the string"),
		marker.Define[minLength](validationPrefix+"MinLength", on, "is the minimum length of the string"),
		marker.Define[pattern](validationPrefix+"Pattern", on, "is a regular expression that the string must match"),
		marker.Define[maxItems](validationPrefix+"MaxItems", on, "is the maximum length of the list"),
		marker.Define[minItems](validationPrefix+"MinItems", on, "is the minimum length of the list"),
		marker.Define[uniqueItems](validationPrefix+"UniqueItems", on, "forbids equal items in the list"),
		marker.Define[enum](validationPrefix+"Enum", on, "lists the values allowed"),
		marker.Define[format](validationPrefix+"Format", on, "names a format that the string must have"),
		marker.Define[jsonType](validationPrefix+"Type", on, "overrides the type in the schema"),
		marker.Define[embeddedResource](validationPrefix+"XEmbeddedResource", on, "makes it a complete object with kind and metadata"),
		marker.Define[intOrString](validationPrefix+"XIntOrString", on, "allows an integer or a string"),
		marker.Define[celRule](validationPrefix+"XValidation", on, "is a rule in CEL"),
	}
}

// pruning stands where validations do.
func pruning() []marker.Definition {
	return []marker.Definition{
		marker.Define[preserveUnknown](validationPrefix+"XPreserveUnknownFields", marker.Field, "keeps fields that are not in the schema"),
	}
}

func fieldMarkers() []marker.Definition {
	const on = marker.Field
	return []marker.Definition{
		marker.Define[struct{}](validationPrefix+"Required", on, "makes the field required").InsteadOf("required"),
		marker.Define[struct{}](validationPrefix+"Optional", on, "makes the field optional").InsteadOf("optional"),
		marker.Define[struct{}]("required", on, "makes the field required"),
		marker.Define[struct{}]("optional", on, "makes the field optional"),
		marker.Define[requiredSet]("k8s:required", on, "makes the field required and not empty"),
		marker.Define[struct{}]("k8s:optional", on, "makes the field optional"),
		marker.Define[nullable]("nullable", on, "allows null"),
		marker.Define[defaultValue]("kubebuilder:default", on, "is the value of the field when it is absent"),
		marker.Define[jsonDefault]("default", on, "is the value, in JSON, of the field when it is absent"),
		marker.Define[example]("kubebuilder:example", on, "is an example of a value"),
		marker.Define[embeddedResource](validationPrefix+"EmbeddedResource", on, "makes it a complete object with kind and metadata"),
		marker.Define[struct{}](validationPrefix+"Schemaless", on, "leaves out the schema of the field's type"),
		marker.Define[immutable]("k8s:immutable", on, "forbids changes to the field"),
		marker.Define[maxItems]("k8s:maxItems", on, "is the maximum length of the list"),
		marker.Define[minimum]("k8s:minimum", on, "is the smallest number allowed"),
		marker.Define[maximum]("k8s:maximum", on, "is the largest number allowed"),
		marker.Define[title]("kubebuilder:title", on, "is a title in the documentation"),
	}
}

func typeMarkers() []marker.Definition {
	const on = marker.Type
	return []marker.Definition{
		marker.Define[atMostOneOf](validationPrefix+"AtMostOneOf", on, "lists fields of which at most one may be set"),
		marker.Define[exactlyOneOf](validationPrefix+"ExactlyOneOf", on, "lists fields of which exactly one must be set"),
		marker.Define[atLeastOneOf](validationPrefix+"AtLeastOneOf", on, "lists fields of which at least one must be set"),
		marker.Define[title]("kubebuilder:title", on, "is a title in the documentation"),
	}
}

func packageMarkers() []marker.Definition {
	const on = marker.Package
	return []marker.Definition{
		marker.Define[struct{}](validationPrefix+"Optional", on, "makes the package's fields optional by default").InsteadOf(""),
		marker.Define[struct{}](validationPrefix+"Required", on, "makes the package's fields required by default").InsteadOf(""),
	}
}

// definitionMarkers are about what stands around a schema.
func definitionMarkers() []marker.Definition {
	return []marker.Definition{
		marker.Define[constantsEnum]("k8s:enum", marker.Type, "allows only the constants of the type"),
		marker.Define[externalDocs]("kubebuilder:externalDocs", marker.Field, "points to documentation elsewhere"),
		marker.Define[externalDocs]("kubebuilder:externalDocs", marker.Type, "points to documentation elsewhere"),
		source.Skip(),
	}
}

// topology stands at fields and types.
func topology() []marker.Definition {
	const on = marker.Field
	return []marker.Definition{
		marker.Define[preserveUnknown]("kubebuilder:pruning:PreserveUnknownFields", on, "keeps fields that are not in the schema"),
		marker.Define[listType]("listType", on, "sets how two versions of the list are merged"),
		marker.Define[listMapKey]("listMapKey", on, "names a field that identifies the list's items"),
		marker.Define[mapType]("mapType", on, "sets how two versions of the map are merged"),
		marker.Define[structType]("structType", on, "sets how two versions of the struct are merged"),
		marker.Define[listType]("k8s:listType", on, "sets how two versions of the list are merged"),
		marker.Define[listMapKey]("k8s:listMapKey", on, "names a field that identifies the list's items"),
	}
}

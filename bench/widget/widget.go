// Package widget is the custom resource that benchmarks and differential tests install: small, so that they measure and
// compare control planes, not schemas.
package widget

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersionKind is the kind of the resource.
var GroupVersionKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// ListPath is the path of all widgets.
const ListPath = "/apis/example.com/v1/widgets"

// CRD defines widgets, whose spec.size is a number.
func CRD() *apiextensionsv1.CustomResourceDefinition {
	type props = map[string]apiextensionsv1.JSONSchemaProps
	size := props{"size": {Type: "integer"}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: GroupVersionKind.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: GroupVersionKind.Kind, ListKind: "WidgetList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: GroupVersionKind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: props{"spec": {Type: "object", Properties: size}},
				}},
			}},
		},
	}
}

// Resource names the resource.
func Resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: GroupVersionKind.Group, Version: GroupVersionKind.Version, Resource: "widgets"}
}

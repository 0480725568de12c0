package crdcheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/util/jsonpath"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	// etcdLimit is what etcd takes in one request, with its default settings: 1.5 MiB. The API server stores
	// definitions as JSON.
	etcdLimit = 1.5 * 1024 * 1024
	// annotationLimit is what the annotations of an object may have together; kubectl apply keeps the whole object in
	// one.
	annotationLimit = 256 * 1024
	// lastApplied is the annotation of kubectl apply.
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// look finds what the API server takes and warns of, or does not look at.
func (c *checker) look() {
	c.size()
	for i := range c.object.Spec.Versions {
		v := &c.object.Spec.Versions[i]
		at := field.NewPath("spec", "versions").Index(i)
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		root := v.Schema.OpenAPIV3Schema
		walk(root, at.Child("schema", "openAPIV3Schema"), c.schema)
		c.columns(v.AdditionalPrinterColumns, root, at.Child("additionalPrinterColumns"))
		c.scale(v.Subresources, root, at.Child("subresources", "scale"))
	}
}

func (c *checker) size() {
	stored, err := json.Marshal(c.object)
	if err != nil {
		c.refuse("", "", "cannot be encoded: "+err.Error(), "")
		return
	}
	if len(stored) > etcdLimit {
		c.refuse("", "", fmt.Sprintf("the CRD has %d bytes; etcd refuses requests of more than %d", len(stored), int(etcdLimit)), TooLargeToStore)
		return
	}
	annotations := len(lastApplied) + len(c.json) + 1 // kubectl ends it with a new line
	for k, v := range c.object.Annotations {
		annotations += len(k) + len(v)
	}
	if annotations > annotationLimit {
		c.warn("", "", fmt.Sprintf("kubectl apply keeps the CRD in an annotation of %d bytes; the limit is %d", annotations, annotationLimit), TooLargeToApply)
	}
}

// schema warns, like the API server, of formats that mean nothing to it, and of sets that it cannot merge.
func (c *checker) schema(s *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	formatted := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
	for _, f := range apivalidation.GetUnrecognizedFormats(formatted, environment.DefaultCompatibilityVersion()) {
		c.warn(at.Child("format").String(), f, "the API server does not know this format and does not check it", "")
	}
	if s.XListType == nil || *s.XListType != "set" || s.Items == nil || s.Items.Schema == nil {
		return
	}
	if t := s.Items.Schema.Type; t == "object" || t == "array" {
		c.warn(at.Child("x-kubernetes-list-type").String(), "set", fmt.Sprintf("server-side apply and CEL rules support no sets of items of type %s", t), StructuredSet)
	}
}

// walk visits a schema and all schemas in it that describe values, properties in the order of their names.
func walk(s *apiextensionsv1.JSONSchemaProps, at *field.Path, visit func(*apiextensionsv1.JSONSchemaProps, *field.Path)) {
	if s == nil {
		return
	}
	visit(s, at)
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := s.Properties[name]
		walk(&p, at.Child("properties").Key(name), visit)
	}
	if s.Items != nil {
		walk(s.Items.Schema, at.Child("items"), visit)
	}
	if s.AdditionalProperties != nil {
		walk(s.AdditionalProperties.Schema, at.Child("additionalProperties"), visit)
	}
}

// columns warns of columns that never show anything and refuses what the API server fails on when it serves the table.
func (c *checker) columns(columns []apiextensionsv1.CustomResourceColumnDefinition, root *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	for i, column := range columns {
		path := at.Index(i).Child("jsonPath").String()
		if err := jsonpath.New(column.Name).Parse("{" + column.JSONPath + "}"); err != nil {
			c.warn(path, column.JSONPath, "not a JSON path, so the column stays empty: "+err.Error(), NoPath)
			continue
		}
		if missing, ok := missingField(root, column.JSONPath); ok {
			c.warn(path, column.JSONPath, "the schema has no field "+missing+", so the column stays empty", NoSuchField)
		}
	}
}

func (c *checker) scale(s *apiextensionsv1.CustomResourceSubresources, root *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	if s == nil || s.Scale == nil {
		return
	}
	paths := map[string]string{"specReplicasPath": s.Scale.SpecReplicasPath, "statusReplicasPath": s.Scale.StatusReplicasPath}
	if s.Scale.LabelSelectorPath != nil {
		paths["labelSelectorPath"] = *s.Scale.LabelSelectorPath
	}
	for name, path := range paths {
		if missing, ok := missingField(root, path); ok {
			c.warn(at.Child(name).String(), path, "the schema has no field "+missing+", so no client can set it", NoSuchField)
		}
	}
}

// missingField is the first part of a path in dots that a schema rules out. It says nothing about paths with filters
// and indices, nor about metadata, which every object has.
func missingField(s *apiextensionsv1.JSONSchemaProps, path string) (string, bool) {
	if strings.ContainsAny(path, `[]'"*?@\`) || !strings.HasPrefix(path, ".") {
		return "", false
	}
	known := ""
	for name := range strings.SplitSeq(path[1:], ".") {
		if known == "" && slices.Contains([]string{"metadata", "apiVersion", "kind"}, name) {
			return "", false
		}
		if s == nil || name == "" || open(s) {
			return "", false
		}
		known += "." + name
		next, ok := s.Properties[name]
		if !ok {
			return known, true
		}
		s = &next
	}
	return "", false
}

// open tells whether a value may have fields that its schema does not name.
func open(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields || s.AdditionalProperties != nil || s.XEmbeddedResource || s.Type != "object"
}

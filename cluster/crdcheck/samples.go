package crdcheck

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// sampled is a version of a kind, by which objects are judged.
type sampled struct {
	definition string // its name
	schema     *apiextensions.JSONSchemaProps
	structural *structuralschema.Structural
	status     bool // is a subresource, so creation drops it
}

// CheckSamples returns what an API server would say to the objects in files when they are created, by a client that has
// unknown fields refused, as kubectl does. Objects of kinds that definitions do not define are passed over.
func CheckSamples(ctx context.Context, definitions, files []File) []Finding {
	kinds := map[string]sampled{}
	for _, f := range definitions {
		all, err := decode(f)
		if err != nil {
			continue // checking the definitions reports it
		}
		for _, d := range all {
			d.addSampled(kinds)
		}
	}
	var findings []Finding
	for _, f := range files {
		rest, line := f.Content, 0
		reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(f.Content)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if at := strings.Index(rest, string(document)); at >= 0 {
				line += strings.Count(rest[:at], "\n")
				rest = rest[at:]
			}
			if err == nil {
				findings = append(findings, judge(ctx, kinds, File{f.Name, string(document)}, line)...)
			}
		}
	}
	return findings
}

// addSampled adds the served versions of a definition, by apiVersion and kind.
func (d definition) addSampled(kinds map[string]sampled) {
	internal, err := d.prepared()
	if err != nil {
		return
	}
	for _, v := range internal.Spec.Versions {
		schema, err := apiextensions.GetSchemaForVersion(internal, v.Name)
		if err != nil || schema == nil || schema.OpenAPIV3Schema == nil || !v.Served {
			continue
		}
		structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
		if err != nil {
			continue
		}
		sub, err := apiextensions.GetSubresourcesForVersion(internal, v.Name)
		kinds[internal.Spec.Group+"/"+v.Name+" "+internal.Spec.Names.Kind] = sampled{
			definition: d.object.Name, schema: schema.OpenAPIV3Schema, structural: structural, status: err == nil && sub != nil && sub.Status != nil,
		}
	}
}

// judge judges one document, which begins after a number of lines.
func judge(ctx context.Context, kinds map[string]sampled, document File, line int) (findings []Finding) {
	if staysSmall([]byte(document.Content)) != nil {
		return nil
	}
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(document.Content))
	if err != nil || json.Unmarshal(data, &object.Object) != nil { // with whole numbers as such
		return nil // what applies it reports it
	}
	kind, known := kinds[object.GetAPIVersion()+" "+object.GetKind()]
	if !known {
		return nil
	}
	var root yamlv3.Node
	_ = yamlv3.Unmarshal([]byte(document.Content), &root) // it is YAML
	add := func(path, message string, reason Reason) {
		findings = append(findings, Finding{File: document.Name, Definition: kind.definition, Path: path, Message: message, Reason: reason, Line: line + lineOf(&root, path), Refused: true})
	}
	defer func() {
		if p := recover(); p != nil {
			add("", fmt.Sprintf("the API server's own validation fails: %v", p), "")
		}
	}()
	errs, unknown := kind.errors(ctx, object)
	for _, path := range unknown {
		add(path, "unknown field", UnknownField)
	}
	for _, e := range errs {
		add(e.Field, strings.TrimPrefix(describe(e), e.Field+" in body "), "")
	}
	return findings
}

// errors are those of an object that is created, in the order in which the API server finds them; unknown are paths of
// fields that it drops.
func (s sampled) errors(ctx context.Context, object *unstructured.Unstructured) (errs field.ErrorList, unknown []string) {
	unknown = pruning.PruneWithOptions(object.Object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if s.status {
		delete(object.Object, "status")
	}
	if err, _ := objectmeta.CoerceWithOptions(nil, object.Object, s.structural, false, objectmeta.CoerceOptions{DropInvalidFields: false}); err != nil {
		return field.ErrorList{err}, unknown
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, s.structural)
	defaulting.Default(object.Object, s.structural)
	validator, _, err := validation.NewSchemaValidator(s.schema)
	if err != nil {
		return nil, unknown
	}
	errs = validation.ValidateCustomResource(nil, object.Object, validator)
	errs = append(errs, objectmeta.Validate(ctx, nil, object.Object, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object.Object)...)
	if rules := cel.NewValidator(s.structural, true, celconfig.PerCallLimit); rules != nil && len(errs) == 0 {
		more, _ := rules.Validate(ctx, nil, s.structural, object.Object, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, more...)
	}
	return errs, unknown
}

// lineOf is the line of a path like spec.parts[0].name, or of the last part of it that is there.
func lineOf(root *yamlv3.Node, path string) int {
	if len(root.Content) == 0 {
		return 1
	}
	at, line := root.Content[0], root.Content[0].Line
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		next := (*yamlv3.Node)(nil)
		switch at.Kind {
		case yamlv3.MappingNode:
			for i := 0; i+1 < len(at.Content); i += 2 {
				if at.Content[i].Value == part {
					line, next = at.Content[i].Line, at.Content[i+1]
				}
			}
		case yamlv3.SequenceNode:
			if n, err := strconv.Atoi(part); err == nil && n >= 0 && n < len(at.Content) {
				next = at.Content[n]
				line = next.Line
			}
		}
		if next == nil {
			break
		}
		at = next
	}
	return line
}

package schemapatch

import (
	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/report"
)

// patch puts the schemas, by version, into the definition. Findings say what in
// the file is not as a definition is, or what got lost.
func (f *manifest) patch(schemas map[string]*schema.Schema, writing schema.Writing) []report.Finding {
	root := f.document.Content[0]
	spec := valueOf(root, "spec")
	if spec == nil || spec.Kind != yaml.MappingNode {
		return f.mistake(root, "spec is not a mapping", "spec with group, names and versions")
	}
	remove(spec, "validation")
	versions := valueOf(spec, "versions")
	if versions == nil || versions.Kind != yaml.SequenceNode {
		return f.mistake(spec, "spec.versions is not a list", "write a list of versions, each with a name")
	}
	var findings []report.Finding
	for _, v := range versions.Content {
		findings = append(findings, f.patchVersion(v, schemas, writing)...)
	}
	return findings
}

func (f *manifest) patchVersion(version *yaml.Node, schemas map[string]*schema.Schema, writing schema.Writing) []report.Finding {
	name := valueOf(version, "name")
	if name == nil || name.Kind != yaml.ScalarNode || name.ShortTag() != "!!str" || name.Value == "" {
		return f.mistake(version, "the version has no name that is a string", "name: v1")
	}
	s := schemas[name.Value]
	if s == nil {
		if !remove(version, "schema") {
			return nil
		}
		return []report.Finding{{
			Rule:       report.RulePatchedManifest,
			Position:   f.position(name),
			Message:    "version " + name.Value + " lost its schema: no package has this group and version",
			Suggestion: "add a package with that version, or use another tool for this CRD",
		}}
	}
	holder := valueOf(version, "schema")
	if holder == nil {
		holder = &yaml.Node{Kind: yaml.MappingNode}
		add(version, "schema", holder)
	}
	if holder.Kind != yaml.MappingNode {
		return f.mistake(holder, "the version's schema is not a mapping", "schema with openAPIV3Schema")
	}
	node := nodeOf(s, writing)
	if existing := valueOf(holder, "openAPIV3Schema"); existing != nil {
		*existing = *node
	} else {
		add(holder, "openAPIV3Schema", node)
	}
	return nil
}

func (f *manifest) mistake(at *yaml.Node, message, suggestion string) []report.Finding {
	return []report.Finding{{Rule: report.RulePatchedManifest, Position: f.position(at), Message: message, Suggestion: suggestion, Fatal: true}}
}

// valueOf is the value of a key, or nil.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// add adds a key that is not there.
func add(mapping *yaml.Node, key string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: key}, value)
}

// remove removes a key, and reports whether it was there.
func remove(mapping *yaml.Node, key string) bool {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = append(mapping.Content[:i], mapping.Content[i+2:]...)
			return true
		}
	}
	return false
}

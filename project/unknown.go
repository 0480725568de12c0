package project

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// The keys of the file's parts. Below plugins any are.
var (
	fileKeys       = []string{"version", "cliVersion", "domain", "repo", "projectName", "layout", "multigroup", "namespaced", "resources", "plugins", "componentConfig"}
	resourceKeys   = []string{"group", "version", "kind", "domain", "plural", "path", "api", "controller", "controllers", "core", "external", "module", "webhooks"}
	apiKeys        = []string{"crdVersion", "namespaced", "ssa"}
	webhookKeys    = []string{"webhookVersion", "defaulting", "validation", "conversion", "spoke", "defaultingPath", "validationPath"}
	controllerKeys = []string{"name"}
)

// An UnknownKey is a key that the file's format does not have, and those that it has in that place.
type UnknownKey struct {
	FieldError
	Key   string
	Known []string
}

// Unknown is the first such key of the file; nil if there is none. Reading passes over it, as the file may be newer.
func (p *Project) Unknown() *UnknownKey {
	if p.doc == nil {
		return nil
	}
	root := p.doc.Content[0]
	if found := unknownIn(root, "", fileKeys); found != nil {
		return found
	}
	for i, resource := range items(root, "resources") {
		if found := unknownInResource(resource, fmt.Sprintf("resources[%d]", i)); found != nil {
			return found
		}
	}
	return nil
}

// unknownInResource is the first such key of an API.
func unknownInResource(n *yaml.Node, at string) *UnknownKey {
	found := unknownIn(n, at, resourceKeys)
	if api, ok := lookup(n, "api"); ok && found == nil {
		found = unknownIn(api, join(at, "api"), apiKeys)
	}
	if webhooks, ok := lookup(n, "webhooks"); ok && found == nil {
		found = unknownIn(webhooks, join(at, "webhooks"), webhookKeys)
	}
	for i, controller := range items(n, "controllers") {
		if found == nil {
			found = unknownIn(controller, fmt.Sprintf("%s.controllers[%d]", at, i), controllerKeys)
		}
	}
	return found
}

// unknownIn is the first key of a mapping that is not known there.
func unknownIn(n *yaml.Node, at string, known []string) *UnknownKey {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; !slices.Contains(known, key.Value) {
			return &UnknownKey{Key: key.Value, Known: known,
				FieldError: FieldError{File: FileName, Line: key.Line, Column: key.Column, Field: join(at, key.Value), Problem: "is no field of PROJECT"}}
		}
	}
	return nil
}

// items are those of a list in a mapping.
func items(n *yaml.Node, key string) []*yaml.Node {
	list, ok := lookup(n, key)
	if !ok || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}

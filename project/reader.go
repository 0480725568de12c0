package project

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// reader takes typed values out of nodes and remembers the first mistake.
type reader struct {
	file string
	err  *FieldError
}

// fail records a mistake at n.
func (r *reader) fail(n *yaml.Node, field, value, problem, expected string) {
	if r.err == nil {
		r.err = &FieldError{File: r.file, Line: n.Line, Column: n.Column, Field: field, Value: value, Problem: problem, Expected: expected}
	}
}

// check records what a validation found, with the place and path of the value.
func (r *reader) check(n *yaml.Node, field string, err error) {
	var fe *FieldError
	switch {
	case err == nil:
	case errors.As(err, &fe):
		r.fail(n, field, fe.Value, fe.Problem, fe.Expected)
	default:
		r.fail(n, field, "", err.Error(), "")
	}
}

func (r *reader) project(n *yaml.Node) *Project {
	r.keys(n, "")
	p := &Project{
		Version:    r.str(n, "", "version"),
		CLIVersion: r.str(n, "", "cliVersion"),
		Domain:     r.str(n, "", "domain"),
		Repo:       r.str(n, "", "repo"),
		Name:       r.str(n, "", "projectName"),
		Layout:     r.strs(n, "", "layout"),
		MultiGroup: r.boolean(n, "", "multigroup"),
		Namespaced: r.boolean(n, "", "namespaced"),
	}
	if p.Version != Version && !p.IsV2() {
		at, _ := lookup(n, "version")
		r.fail(orNode(at, n), "version", p.Version, "is not a known version of the file", `"3" (or "2" or "1")`)
	}
	r.checkValue(n, "domain", p.Domain, ValidateDomain)
	r.checkValue(n, "repo", p.Repo, ValidateRepo)
	r.checkValue(n, "projectName", p.Name, ValidateName)
	for i, item := range r.seq(n, "", "resources") {
		res := r.resource(item, fmt.Sprintf("resources[%d]", i), p)
		if p.Lookup(res.Group, res.Version, res.Kind) != nil {
			r.fail(item, fmt.Sprintf("resources[%d]", i), res.Kind, "occurs twice", "one entry for a group, version and kind")
		}
		p.Resources = append(p.Resources, res)
	}
	return p
}

// checkValue validates a value if the file has it.
func (r *reader) checkValue(n *yaml.Node, key, value string, validate func(string) error) {
	if at, ok := lookup(n, key); ok {
		r.check(at, key, validate(value))
	}
}

func (r *reader) resource(n *yaml.Node, at string, p *Project) Resource {
	if !r.mapping(n, at) {
		return Resource{}
	}
	res := Resource{
		Group:      r.str(n, at, "group"),
		Version:    r.str(n, at, "version"),
		Kind:       r.str(n, at, "kind"),
		Domain:     r.str(n, at, "domain"),
		Plural:     r.str(n, at, "plural"),
		Path:       r.str(n, at, "path"),
		Controller: r.boolean(n, at, "controller"),
		Core:       r.boolean(n, at, "core"),
		External:   r.boolean(n, at, "external"),
		Module:     r.str(n, at, "module"),
		API:        r.api(n, at),
		Webhooks:   r.webhooks(n, at),
	}
	for i, item := range r.seq(n, at, "controllers") {
		where := fmt.Sprintf("%s.controllers[%d]", at, i)
		if r.mapping(item, where) {
			res.Controllers = append(res.Controllers, Controller{Name: r.str(item, where, "name")})
		}
	}
	if p.IsV2() { // it knew only types of the project's own domain
		res.Domain = p.Domain
		res.API = &API{CRDVersion: "v1", Namespaced: true}
		res.Controller = true
	}
	if err := res.Validate(); err != nil {
		r.checkResource(n, at, err)
	}
	return res
}

// checkResource puts a mistake in a resource's names at the key that holds it.
func (r *reader) checkResource(n *yaml.Node, at string, err error) {
	var fe *FieldError
	if !errors.As(err, &fe) {
		r.check(n, at, err)
		return
	}
	place, ok := lookup(n, fe.Field)
	if !ok {
		place = n
	}
	r.check(place, at+"."+fe.Field, err)
}

func (r *reader) api(n *yaml.Node, at string) *API {
	node, ok := lookup(n, "api")
	at += ".api"
	if !ok || !r.mapping(node, at) {
		return nil
	}
	return &API{
		CRDVersion: r.str(node, at, "crdVersion"),
		Namespaced: r.boolean(node, at, "namespaced"),
		SSA:        r.boolean(node, at, "ssa"),
	}
}

func (r *reader) webhooks(n *yaml.Node, at string) *Webhooks {
	node, ok := lookup(n, "webhooks")
	at += ".webhooks"
	if !ok || !r.mapping(node, at) {
		return nil
	}
	return &Webhooks{
		WebhookVersion: r.str(node, at, "webhookVersion"),
		Defaulting:     r.boolean(node, at, "defaulting"),
		Validation:     r.boolean(node, at, "validation"),
		Conversion:     r.boolean(node, at, "conversion"),
		Spoke:          r.strs(node, at, "spoke"),
		DefaultingPath: r.str(node, at, "defaultingPath"),
		ValidationPath: r.str(node, at, "validationPath"),
	}
}

// mapping reports whether n is a mapping with keys that appear once.
func (r *reader) mapping(n *yaml.Node, at string) bool {
	if n.Kind != yaml.MappingNode {
		r.fail(n, at, n.Value, "is not a mapping", "lines of the form `key: value`")
		return false
	}
	return r.keys(n, at)
}

// keys reports whether the keys of mapping n appear once each.
func (r *reader) keys(n *yaml.Node, at string) bool {
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			r.fail(key, join(at, key.Value), "", "appears twice", "one")
			return false
		}
		seen[key.Value] = true
	}
	return true
}

func (r *reader) str(n *yaml.Node, at, key string) string {
	v, ok := lookup(n, key)
	if !ok {
		return ""
	}
	if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		r.fail(v, join(at, key), "", "is not a text", "a text")
		return ""
	}
	return v.Value
}

func (r *reader) boolean(n *yaml.Node, at, key string) bool {
	v, ok := lookup(n, key)
	if !ok {
		return false
	}
	var b bool
	if v.Kind != yaml.ScalarNode || v.Decode(&b) != nil {
		r.fail(v, join(at, key), v.Value, "is not a boolean", "true or false")
	}
	return b
}

func (r *reader) seq(n *yaml.Node, at, key string) []*yaml.Node {
	v, ok := lookup(n, key)
	if !ok || v.Tag == "!!null" {
		return nil
	}
	if v.Kind != yaml.SequenceNode {
		r.fail(v, join(at, key), v.Value, "is not a list", "lines of the form `- item`")
		return nil
	}
	return v.Content
}

// strs reads a list of texts; one text alone counts as a list of one, as `layout`
// was written at first.
func (r *reader) strs(n *yaml.Node, at, key string) []string {
	if v, ok := lookup(n, key); ok && v.Kind == yaml.ScalarNode && v.Tag == "!!str" {
		return []string{v.Value}
	}
	var out []string
	for i, item := range r.seq(n, at, key) {
		if item.Kind != yaml.ScalarNode {
			r.fail(item, fmt.Sprintf("%s[%d]", join(at, key), i), "", "is not a text", "a text")
			continue
		}
		out = append(out, item.Value)
	}
	return out
}

// lookup finds the value of a key in mapping n.
func lookup(n *yaml.Node, key string) (*yaml.Node, bool) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1], true
		}
	}
	return nil, false
}

func orNode(n, other *yaml.Node) *yaml.Node {
	if n == nil {
		return other
	}
	return n
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

package crdcheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/crdify/pkg/validations"
)

// index finds the places in the schemas of a definition by version and by crdify's name for them, like ^.spec.items[*].
type index map[string]map[string]place

// place is a place in a schema: the first, where an allOf or its like repeats it.
type place struct {
	path   string
	schema apiextensionsv1.JSONSchemaProps
}

func newIndex(d *apiextensionsv1.CustomResourceDefinition) index {
	all := make(index)
	for i, v := range d.Spec.Versions {
		places := make(map[string]place)
		root := field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema").String()
		visit := func(s *apiextensionsv1.JSONSchemaProps, path, name *field.Path, _ []*apiextensionsv1.JSONSchemaProps) bool {
			if _, ok := places[name.String()]; !ok {
				places[name.String()] = place{root + strings.TrimPrefix(path.String(), "^"), *s}
			}
			return false
		}
		validations.SchemaHas(v.Schema.OpenAPIV3Schema, field.NewPath("^"), field.NewPath("^"), nil, visit)
		all[v.Name] = places
	}
	return all
}

// removed is how crdify begins to name a field that is gone: version and place follow.
const removed = "removed field : "

// whole are the changes that a comparison of whole definitions found.
func (c comparison) whole(r validations.ComparisonResult) []Change {
	var changes []Change
	for _, message := range r.Errors {
		if place, ok := strings.CutPrefix(message, removed); ok {
			version, property, _ := strings.Cut(place, ".^")
			if !c.below(version, "^"+property) {
				changes = append(changes, c.at(version, "^"+property, r.Name, "the field was removed", true))
			}
			continue
		}
		changes = append(changes, c.change("", r.Name, plain(message), true))
	}
	for _, message := range r.Warnings {
		changes = append(changes, c.change("", r.Name, plain(message), false))
	}
	return changes
}

// below tells whether a removed place lies in another one that is removed and told.
func (c comparison) below(version, property string) bool {
	for i := len(property) - 1; i > 0; i-- {
		if property[i] != '.' && property[i] != '[' {
			continue
		}
		outer := property[:i]
		if _, was := c.oldIndex[version][outer]; was {
			_, is := c.nowIndex[version][outer]
			return !is
		}
	}
	return false
}

// property are the changes of one place in the schema of a version.
func (c comparison) property(version, property string, list []validations.ComparisonResult) []Change {
	old, now := c.oldIndex[version][property], c.nowIndex[version][property]
	if now.path == "" {
		return nil // told as a removed field
	}
	var changes []Change
	for _, r := range list {
		switch {
		case r.Name == "unhandled":
		case r.Name == "description" && len(r.Warnings) > 0:
			changes = append(changes, c.at(version, property, r.Name, "the description changed", false))
		case r.Name == "required" && len(r.Errors) > 0:
			changes = append(changes, c.required(version, property, old, now)...)
		default:
			for _, message := range r.Errors {
				changes = append(changes, c.keyed(version, property, r.Name, plain(message), true))
			}
			for _, message := range r.Warnings {
				changes = append(changes, c.keyed(version, property, r.Name, plain(message), false))
			}
		}
	}
	for _, d := range differences(&old.schema, &now.schema) {
		told := slices.ContainsFunc(list, func(r validations.ComparisonResult) bool { return r.Name == d.key && len(r.Errors) > 0 })
		if !told {
			changes = append(changes, c.keyed(version, property, d.key, d.message, d.breaking))
		}
	}
	return changes
}

// plain takes the space away that crdify puts before a colon.
func plain(message string) string { return strings.Replace(message, " : ", ": ", 1) }

// required are the fields that became required, each at its own place.
func (c comparison) required(version, property string, old, now place) []Change {
	var changes []Change
	for _, name := range slices.Sorted(slices.Values(now.schema.Required)) {
		if slices.Contains(old.schema.Required, name) {
			continue
		}
		change := c.at(version, property, "required", "the field is required now", true)
		change.Field = strings.TrimPrefix(change.Field+"."+name, ".")
		change.Path = now.path + ".properties[" + name + "]"
		changes = append(changes, change)
	}
	return changes
}

// apart are the places in which two served versions differ that did not differ before. Whether that is
// breaking depends on the conversion between them, which is not a part of what is generated.
func (c comparison) apart(versions, property string, list []validations.ComparisonResult) []Change {
	for _, r := range list {
		if len(r.Errors)+len(r.Warnings) == 0 || r.Name == "description" {
			continue
		}
		change := c.at(versions, property, "servedVersions", "the versions differ here, so objects need a conversion", false)
		_, newer, _ := strings.Cut(versions, " -> ")
		change.Path = c.nowIndex[newer][property].path
		return []Change{change}
	}
	return nil
}

// additions are the fields that are new; those in others that are new are not told.
func (c comparison) additions() []Change {
	var changes []Change
	for version, places := range c.nowIndex {
		before, ok := c.oldIndex[version]
		if !ok {
			continue
		}
		for _, property := range slices.Sorted(maps.Keys(places)) {
			reversed := comparison{oldIndex: c.nowIndex, nowIndex: c.oldIndex}
			if _, was := before[property]; !was && !reversed.below(version, property) {
				changes = append(changes, c.at(version, property, "fieldAddition", "the field was added", false))
			}
		}
	}
	return changes
}

func (c comparison) at(version, property, rule, message string, breaking bool) Change {
	change := c.change(version, rule, message, breaking)
	change.Field = strings.TrimPrefix(strings.TrimPrefix(property, "^"), ".")
	change.Path = c.nearest(version, property)
	return change
}

// nearest is the path of a place in the new definition, or of the one around it that is there.
func (c comparison) nearest(version, property string) string {
	for property != "" {
		if p, ok := c.nowIndex[version][property]; ok {
			return p.path
		}
		property = property[:max(0, strings.LastIndexAny(property, ".["))]
	}
	return ""
}

// keyed is a change of what one key of the schema says.
func (c comparison) keyed(version, property, key, message string, breaking bool) Change {
	change := c.at(version, property, key, message, breaking)
	change.Path += "." + key
	return change
}

// quoted is a text in a message.
func quoted(s string) string { return fmt.Sprintf("%q", s) }

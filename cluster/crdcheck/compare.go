package crdcheck

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/crdify/pkg/validations"
)

// Change is a difference between two states of a definition.
type Change struct {
	// File is the file of the new state, or of the old one where there is no new one.
	File       string `json:"file"`
	Definition string `json:"definition"`
	// Version is the version that the change is about; two with an arrow where the change sets them apart.
	Version string `json:"version,omitempty"`
	// Path is the place in the new file, and Field the same as users write it: spec.schedule.
	Path  string `json:"path,omitempty"`
	Field string `json:"field,omitempty"`
	// Rule names the comparison that found it.
	Rule    string `json:"rule"`
	Message string `json:"message"`
	// Breaking says that an object or a client that was right before may be wrong now.
	Breaking bool `json:"breaking"`
}

// Compare returns how the definitions in after differ from those in before, by definition, breaking changes first.
func Compare(_ context.Context, before, after []File) ([]Change, error) {
	old, err := collect(before)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	now, err := collect(after)
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	compare, err := runner.New(&config.Config{
		UnhandledEnforcement: config.EnforcementPolicyWarn,
		Conversion:           config.ConversionPolicyIgnore,
		Validations:          []config.ValidationConfig{{Name: "description", Enforcement: config.EnforcementPolicyWarn}},
	}, runner.DefaultRegistry())
	if err != nil {
		return nil, err
	}
	var changes []Change
	for name, o := range old {
		if _, ok := now[name]; !ok {
			changes = append(changes, Change{File: o.file, Definition: name, Rule: "definitionRemoval", Message: "the CRD was removed, and its objects with it", Breaking: true})
		}
	}
	for name, n := range now {
		o, ok := old[name]
		if !ok {
			changes = append(changes, Change{File: n.file, Definition: name, Rule: "definitionAddition", Message: "the CRD was added"})
			continue
		}
		changes = append(changes, comparison{old: o.object, now: n.object, file: n.file}.run(compare)...)
	}
	slices.SortFunc(changes, compareChanges)
	return slices.Compact(changes), nil
}

func compareChanges(a, b Change) int {
	return cmp.Or(strings.Compare(a.Definition, b.Definition), compareBool(b.Breaking, a.Breaking), strings.Compare(a.Version, b.Version),
		strings.Compare(a.Field, b.Field), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// stated is a definition and the file that states it.
type stated struct {
	file   string
	object *apiextensionsv1.CustomResourceDefinition
}

func collect(files []File) (map[string]stated, error) {
	all := make(map[string]stated)
	for _, f := range files {
		definitions, err := decode(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, d := range definitions {
			if first, ok := all[d.object.Name]; ok {
				return nil, fmt.Errorf("%s: %s is already in %s", f.Name, d.object.Name, first.file)
			}
			all[d.object.Name] = stated{f.Name, d.object}
		}
	}
	return all, nil
}

// comparison compares two states of one definition.
type comparison struct {
	old, now *apiextensionsv1.CustomResourceDefinition
	file     string
	oldIndex index
	nowIndex index
}

func (c comparison) run(compare *runner.Runner) []Change {
	changes := c.versions()
	if !comparable(c.old) || !comparable(c.now) {
		return changes
	}
	c.oldIndex, c.nowIndex = newIndex(c.old), newIndex(c.now)
	results := compare.Run(c.old, c.now)
	for _, r := range results.CRDValidation {
		changes = append(changes, c.whole(r)...)
	}
	for version, properties := range results.SameVersionValidation {
		for property, list := range properties {
			changes = append(changes, c.property(version, property, list)...)
		}
	}
	for versions, properties := range results.ServedVersionValidation {
		for property, list := range properties {
			changes = append(changes, c.apart(versions, property, list)...)
		}
	}
	return append(changes, c.additions()...)
}

// comparable tells whether every version has a schema, without which there is nothing to compare.
func comparable(d *apiextensionsv1.CustomResourceDefinition) bool {
	return !slices.ContainsFunc(d.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Schema == nil || v.Schema.OpenAPIV3Schema == nil
	})
}

// change is a change of a version as a whole, or of the definition.
func (c comparison) change(version, rule, message string, breaking bool) Change {
	return Change{File: c.file, Definition: c.now.Name, Version: version, Rule: rule, Message: message, Breaking: breaking}
}

// versions compares what versions there are and how they are served.
func (c comparison) versions() []Change {
	var changes []Change
	for _, o := range c.old.Spec.Versions {
		n := validations.GetCRDVersionByName(c.now, o.Name)
		switch {
		case n == nil:
			changes = append(changes, c.change(o.Name, "versionRemoval", "the version was removed", true))
			continue
		case o.Served && !n.Served:
			changes = append(changes, c.change(o.Name, "versionServed", "the version is no longer served", true))
		case !o.Deprecated && n.Deprecated:
			changes = append(changes, c.change(o.Name, "versionDeprecated", "the version is deprecated now", false))
		}
		if !o.Storage && n.Storage {
			changes = append(changes, c.change(o.Name, "storageVersion", "this is the storage version now; objects that are stored in another version need a conversion", false))
		}
		changes = append(changes, c.subresources(o, *n)...)
	}
	for _, n := range c.now.Spec.Versions {
		if validations.GetCRDVersionByName(c.old, n.Name) == nil {
			changes = append(changes, c.change(n.Name, "versionAddition", "the version was added", false))
		}
	}
	return changes
}

func (c comparison) subresources(o, n apiextensionsv1.CustomResourceDefinitionVersion) []Change {
	var changes []Change
	had, has := subresources(o), subresources(n)
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if !has[name] {
			changes = append(changes, c.change(o.Name, "subresourceRemoval", "the subresource "+name+" was removed", true))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if had[name] {
			continue
		}
		message, breaking := "the subresource "+name+" was added", false
		if name == "status" {
			message, breaking = message+": writes to the object itself now ignore its status", true
		}
		changes = append(changes, c.change(o.Name, "subresourceAddition", message, breaking))
	}
	return changes
}

func subresources(v apiextensionsv1.CustomResourceDefinitionVersion) map[string]bool {
	names := make(map[string]bool)
	if v.Subresources != nil && v.Subresources.Status != nil {
		names["status"] = true
	}
	if v.Subresources != nil && v.Subresources.Scale != nil {
		names["scale"] = true
	}
	return names
}

package crdcheck

import (
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type props = apiextensionsv1.JSONSchemaProps

// difference is one of those that crdify knows no comparison for.
type difference struct {
	key, message string
	breaking     bool
}

// differences compares what crdify leaves, which it would count as breaking, and what it does not tell: that more is
// allowed than before.
func differences(old, now *props) []difference {
	var found []difference
	for _, r := range remaining {
		if message, breaking := r.compare(r.key, old, now); message != "" {
			found = append(found, difference{r.key, message, breaking})
		}
	}
	return found
}

// comparing compares what a key says in two schemas. Its message names the key, as those of crdify do.
type comparing func(key string, old, now *props) (message string, breaking bool)

// remaining are the keys of schemas that crdify has no comparison for.
var remaining = []struct {
	key     string
	compare comparing
}{
	{"pattern", narrowing(func(p *props) string { return p.Pattern })},
	{"format", narrowing(func(p *props) string { return p.Format })},
	{"multipleOf", narrowing(func(p *props) string { return number(p.MultipleOf) })},
	{"exclusiveMaximum", flag(func(p *props) bool { return p.ExclusiveMaximum }, true)},
	{"exclusiveMinimum", flag(func(p *props) bool { return p.ExclusiveMinimum }, true)},
	{"uniqueItems", flag(func(p *props) bool { return p.UniqueItems }, true)},
	{"nullable", flag(func(p *props) bool { return p.Nullable }, false)},
	{"x-kubernetes-preserve-unknown-fields", flag(func(p *props) bool { return set(p.XPreserveUnknownFields) }, false)},
	{"x-kubernetes-int-or-string", flag(func(p *props) bool { return p.XIntOrString }, false)},
	{"x-kubernetes-embedded-resource", flag(func(p *props) bool { return p.XEmbeddedResource }, true)},
	{"x-kubernetes-list-type", merging(func(p *props) string { return text(p.XListType) })},
	{"x-kubernetes-map-type", merging(func(p *props) string { return text(p.XMapType) })},
	{"x-kubernetes-list-map-keys", merging(func(p *props) string { return list(p.XListMapKeys) })},
	{"x-kubernetes-validations", rules},
	{"allOf", nested(func(p *props) any { return p.AllOf })},
	{"anyOf", nested(func(p *props) any { return p.AnyOf })},
	{"oneOf", nested(func(p *props) any { return p.OneOf })},
	{"not", nested(func(p *props) any { return p.Not })},
	{"maximum", widening(func(p *props) string { return number(p.Maximum) })},
	{"minimum", widening(func(p *props) string { return number(p.Minimum) })},
	{"maxLength", widening(func(p *props) string { return size(p.MaxLength) })},
	{"minLength", widening(func(p *props) string { return size(p.MinLength) })},
	{"maxItems", widening(func(p *props) string { return size(p.MaxItems) })},
	{"minItems", widening(func(p *props) string { return size(p.MinItems) })},
	{"maxProperties", widening(func(p *props) string { return size(p.MaxProperties) })},
	{"minProperties", widening(func(p *props) string { return size(p.MinProperties) })},
	{"enum", widening(func(p *props) string { return values(p.Enum) })},
	{"required", func(_ string, old, now *props) (string, bool) {
		for _, name := range old.Required {
			if !slices.Contains(now.Required, name) {
				return "the field " + name + " is optional now", false
			}
		}
		return "", false
	}},
}

// widening compares bounds, which were checked before for being narrower now.
func widening(get func(*props) string) comparing {
	return func(key string, old, now *props) (string, bool) {
		a, b := get(old), get(now)
		switch {
		case a == b:
			return "", false
		case b == "":
			return key + " removed: " + a, false
		}
		return key + " changed: " + a + " -> " + b, false
	}
}

// narrowing compares something that, when it is there, allows fewer values.
func narrowing(get func(*props) string) comparing {
	return func(key string, old, now *props) (string, bool) {
		a, b := get(old), get(now)
		switch {
		case a == b:
			return "", false
		case a == "":
			return key + " added: " + quoted(b), true
		case b == "":
			return key + " removed: " + quoted(a), false
		}
		return key + " changed: " + quoted(a) + " -> " + quoted(b), true
	}
}

// flag compares a flag; breaking is the value that is breaking to change to.
func flag(get func(*props) bool, breaking bool) comparing {
	return func(key string, old, now *props) (string, bool) {
		a, b := get(old), get(now)
		if a == b {
			return "", false
		}
		return fmt.Sprintf("%s changed: %t -> %t", key, a, b), b == breaking
	}
}

// merging compares what says how server-side apply merges values.
func merging(get func(*props) string) comparing {
	return func(key string, old, now *props) (string, bool) {
		a, b := get(old), get(now)
		if a == b {
			return "", false
		}
		return fmt.Sprintf("%s changed: %q -> %q, so values merge differently", key, a, b), true
	}
}

// nested compares combinations of schemas, which may allow more or less.
func nested(get func(*props) any) comparing {
	return func(key string, old, now *props) (string, bool) {
		if reflect.DeepEqual(get(old), get(now)) {
			return "", false
		}
		return key + " changed in a way that may allow less", true
	}
}

// rules compares CEL rules: a rule that was not there before may refuse what is stored.
func rules(_ string, old, now *props) (string, bool) {
	had, has := rulesOf(old), rulesOf(now)
	for _, r := range has {
		if !slices.Contains(had, r) {
			return "a rule was added or changed: " + r, true
		}
	}
	for _, r := range had {
		if !slices.Contains(has, r) {
			return "a rule was removed: " + r, false
		}
	}
	return "", false
}

func rulesOf(p *props) []string {
	var all []string
	for _, v := range p.XValidations {
		all = append(all, v.Rule)
	}
	return all
}

func set(b *bool) bool { return b != nil && *b }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func number(f *float64) string {
	if f == nil {
		return ""
	}
	return fmt.Sprint(*f)
}

func size(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func values(enum []apiextensionsv1.JSON) string {
	var all []string
	for _, v := range enum {
		all = append(all, string(v.Raw))
	}
	return list(all)
}

func list(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprint(names)
}

package policy

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

// refusal is why a policy would judge the rule in another way than a definition does; "" if it would not.
func (r rule) refusal() string {
	switch {
	case r.OptionalOldSelf != nil && *r.OptionalOldSelf:
		return "its oldSelf is optional, which policies do not support"
	case r.compares() && (r.at.old == nil || r.at.old.of != ""):
		return "it uses oldSelf in a list without keys, whose items have no old value"
	case r.words.comment:
		return "it has a comment" // after which nothing could follow on the line
	case slices.ContainsFunc(r.words.names, escaped):
		return "it escapes the name of a property, which policies do not support"
	}
	if format := r.mentions(func(s *schema.Schema) bool { return slices.Contains(typedFormats, s.Format) }); format != nil {
		return "the format " + format.Format + " has its own type in CRDs, but is text in policies"
	}
	if strings.ContainsAny(r.words.operators, "+-*/%") && r.mentions(func(s *schema.Schema) bool { return s.Type == "number" }) != nil {
		return "it calculates with a floating-point number, which policies take as an integer if it has no fraction"
	}
	if strings.ContainsAny(r.words.operators, "=+") && r.uses(unordered) != nil {
		return "CRDs compare lists that are sets or maps without their order, but policies compare the order"
	}
	return ""
}

// typedFormats are those that are more than text to a rule of a definition.
var typedFormats = []string{"date", "datetime", "date-time", "duration", "byte"}

func unordered(s *schema.Schema) bool { return s.ListType == "set" || s.ListType == "map" }

// escaped reports whether the name stands for one that CEL does not allow (__dash__, __namespace__).
func escaped(name string) bool {
	return len(name) > 4 && strings.Contains(strings.TrimPrefix(name, "__"), "__")
}

// mentions finds a schema of that kind which the rule is about: that of its own value, or one below that it names.
func (r rule) mentions(is func(*schema.Schema) bool) *schema.Schema {
	return search{words: r.words, is: is, named: r.words.names}.in(r.at.schema, "self", false)
}

// uses is mentions for what the rule names as a whole, and not to select something of it.
func (r rule) uses(is func(*schema.Schema) bool) *schema.Schema {
	return search{words: r.words, is: is, named: r.words.alone}.in(r.at.schema, "self", false)
}

// A search looks for a schema below another one.
type search struct {
	words
	named []string // those of the words that count
	is    func(*schema.Schema) bool
}

// in searches the schema of a name. What is named as a whole is meant with all that is below, and so is what is named
// without naming anything below.
func (of search) in(s *schema.Schema, name string, all bool) *schema.Schema {
	all = all || slices.Contains(of.alone, name)
	if (all || slices.Contains(of.named, name)) && of.is(s) {
		return s
	}
	all = all || slices.Contains(of.names, name) && !of.namesBelow(s)
	for name, property := range s.Properties {
		if !all && !slices.Contains(of.names, name) {
			continue
		}
		if found := of.in(property, name, all); found != nil {
			return found
		}
	}
	if s.Items != nil {
		return of.in(s.Items, "", all)
	}
	if additional := s.AdditionalProperties; additional != nil && additional.Schema != nil {
		return of.in(additional.Schema, "", all)
	}
	return nil
}

func (of search) namesBelow(s *schema.Schema) bool {
	return slices.ContainsFunc(of.names, func(name string) bool { return s.Properties[name] != nil })
}

package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

// A rule is a rule of the schema at its place.
type rule struct {
	schema.Validation
	at    place
	nth   int   // of its place
	words words // of Rule
}

// rulesOf are the rules of a schema, from the outside in.
func rulesOf(s *schema.Schema) []rule { return appendRules(nil, root(s)) }

func appendRules(rules []rule, p place) []rule {
	for nth, v := range p.schema.Validations {
		rules = append(rules, rule{v, p, nth, read(v.Rule)})
	}
	for _, name := range slices.Sorted(maps.Keys(p.schema.Properties)) {
		rules = appendRules(rules, p.property(name, p.schema.Properties[name]))
	}
	if p.schema.Items != nil {
		rules = appendRules(rules, p.items(p.schema.Items))
	}
	if of := p.schema.AdditionalProperties; of != nil && of.Schema != nil {
		rules = appendRules(rules, p.values(of.Schema))
	}
	return rules
}

// compares reports whether the rule is about the old value too: a transition rule.
func (r rule) compares() bool { return slices.Contains(r.words.names, "oldSelf") }

// A validation is one of a policy.
type validation struct{ expression, message, messageExpression, reason string }

func (r rule) validation() validation {
	v := validation{expression: r.expression(), message: r.message(), reason: "Invalid"}
	if r.Reason == "FieldValueForbidden" {
		v.reason = "Forbidden"
	}
	if r.MessageExpression != "" && !r.at.many {
		v.messageExpression = r.messageExpression()
	}
	return v
}

// expression judges all values of the place.
func (r rule) expression() string {
	judged := fmt.Sprintf("[%s].all(self, %s)", r.at.value, r.Rule)
	switch old := r.at.old; {
	case r.compares(): // with a value that was there before
		judged = "!(" + old.before + "!([" + old.value + "].all(oldSelf, " + judged + "))" + old.after + ")"
	case old != nil && old.of != "": // unless the whole list is as it was
		same := "(" + old.before + old.value + " == " + old.of + old.after + ") || "
		return r.at.before[:old.outside] + same + r.at.before[old.outside:] + judged + r.at.after
	case old != nil: // unless it is as it was
		judged = "(" + old.before + old.value + " == " + r.at.value + old.after + ") || " + judged
	}
	return r.at.before + judged + r.at.after
}

// message names the field, which a policy does not do by itself.
func (r rule) message() string {
	field := strings.TrimPrefix(r.at.name+r.FieldPath, ".")
	text := cmp.Or(r.Message, "failed rule: "+strings.Join(strings.Fields(r.Rule), " "))
	if field == "" {
		return text
	}
	return field + ": " + text
}

func (r rule) messageExpression() string {
	text := fmt.Sprintf("[%s].map(self, string(%s))[0]", r.at.value, r.MessageExpression)
	if slices.Contains(read(r.MessageExpression).names, "oldSelf") && r.at.old != nil {
		text = fmt.Sprintf("[%s].map(oldSelf, %s)[0]", r.at.old.value, text)
	}
	if r.at.name == "" {
		return text
	}
	return fmt.Sprintf("%q + %s", r.at.name+": ", text)
}

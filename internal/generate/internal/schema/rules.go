package schema

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/edition"
)

type celRule struct {
	Rule              string `doc:"is the expression, which must be true"`
	Message           string `marker:",optional" doc:"is the text of the refusal"`
	MessageExpression string `marker:"messageExpression,optional" doc:"is an expression in CEL that makes the message"`
	Reason            string `marker:"reason,optional" doc:"is the machine-readable reason of the refusal"`
	FieldPath         string `marker:"fieldPath,optional" doc:"is the field that the refusal names"`
	OptionalOldSelf   *bool  `marker:"optionalOldSelf,optional" doc:"asks for the rule to run also where there was no value before"`
}

func (m celRule) modify(s *Schema, _ context) error {
	switch m.Reason {
	case "", "FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden", "FieldValueDuplicate":
	default:
		return fmt.Errorf("unknown reason %q: use FieldValueRequired, FieldValueInvalid, FieldValueForbidden or FieldValueDuplicate", m.Reason)
	}
	s.Validations = append(s.Validations, Validation(m))
	return nil
}

type immutable struct{}

func (immutable) modify(s *Schema, _ context) error {
	return celRule{Rule: "self == oldSelf", Message: "field is immutable"}.modify(s, context{})
}

// The choices name fields of a type of which some number may be set.
type (
	atMostOneOf  []string
	exactlyOneOf []string
	atLeastOneOf []string
)

func (m atMostOneOf) fields() []string  { return m }
func (m exactlyOneOf) fields() []string { return m }
func (m atLeastOneOf) fields() []string { return m }

func (atMostOneOf) rank() rank  { return late }
func (exactlyOneOf) rank() rank { return later }
func (atLeastOneOf) rank() rank { return latest }

func (m atMostOneOf) modify(s *Schema, c context) error {
	return choose(s, m, c.edition().AtMostOne, "at most one of the fields in %v may be set")
}

func (m exactlyOneOf) modify(s *Schema, c context) error {
	return choose(s, m, c.edition().ExactlyOne, "exactly one of the fields in %v must be set")
}

func (m atLeastOneOf) modify(s *Schema, c context) error {
	return choose(s, m, c.edition().AtLeastOne, "at least one of the fields in %v must be set")
}

func choose(s *Schema, fields []string, choice edition.Choice, message string) error {
	if len(fields) == 0 {
		return nil
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprintf(choice.Each, f)
	}
	rule := fmt.Sprintf(choice.Rule, strings.Join(parts, choice.Separator))
	return celRule{Rule: rule, Message: fmt.Sprintf(message, fields)}.modify(s, context{})
}

package schema

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

type celRule struct {
	Rule              string `doc:"is the expression, which must be true"`
	Message           string `marker:",optional" doc:"is the text of the refusal"`
	MessageExpression string `marker:"messageExpression,optional" doc:"is an expression in CEL that makes the message"`
	Reason            string `marker:"reason,optional" doc:"is the machine-readable reason of the refusal"`
	FieldPath         string `marker:"fieldPath,optional" doc:"is the field that the refusal names"`
	OptionalOldSelf   *bool  `marker:"optionalOldSelf,optional" doc:"asks for the rule to run also where there was no value before"`
}

func (m celRule) modify(s *Schema, _ *load.TypeDecl) error {
	switch m.Reason {
	case "", "FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden", "FieldValueDuplicate":
	default:
		return fmt.Errorf("unknown reason %q: use FieldValueRequired, FieldValueInvalid, FieldValueForbidden or FieldValueDuplicate", m.Reason)
	}
	s.Validations = append(s.Validations, Validation(m))
	return nil
}

type immutable struct{}

func (immutable) modify(s *Schema, _ *load.TypeDecl) error {
	return celRule{Rule: "self == oldSelf", Message: "field is immutable"}.modify(s, nil)
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

func (m atMostOneOf) modify(s *Schema, _ *load.TypeDecl) error {
	return choose(s, m, count(m)+" <= 1", "at most one of the fields in %v may be set")
}

func (m exactlyOneOf) modify(s *Schema, _ *load.TypeDecl) error {
	return choose(s, m, count(m)+" == 1", "exactly one of the fields in %v must be set")
}

func (m atLeastOneOf) modify(s *Schema, _ *load.TypeDecl) error {
	return choose(s, m, each(m, "has(self.%s)", "||"), "at least one of the fields in %v must be set")
}

func choose(s *Schema, fields []string, rule, message string) error {
	if len(fields) == 0 {
		return nil
	}
	return celRule{Rule: rule, Message: fmt.Sprintf(message, fields)}.modify(s, nil)
}

// count is the number of fields that are set, in an expression without lists:
// those cost more than the API server may allow.
func count(fields []string) string { return each(fields, "(has(self.%s)?1:0)", "+") }

func each(fields []string, pattern, separator string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprintf(pattern, f)
	}
	return strings.Join(parts, separator)
}

package crdcheck

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Reason is what a finding is about, for programs that do something about it. Most findings have none.
type Reason string

const (
	// RuleCost is that a CEL rule costs too much by itself.
	RuleCost Reason = "ruleCost"
	// RuleCostShare is that a CEL rule is one of the most expensive of those that cost too much together.
	RuleCostShare Reason = "ruleCostShare"
	// RuleCostSum is that the CEL rules of a version cost too much together.
	RuleCostSum Reason = "ruleCostSum"
	// UndefinedField is that a CEL rule reads a field that the schema does not have.
	UndefinedField Reason = "undefinedField"
	// NoOldValue is that a CEL rule reads an old value where there is none.
	NoOldValue Reason = "noOldValue"
	// Untyped is that the schema has no type for a place.
	Untyped Reason = "untyped"
	// AbsentKey is that the key of a list map may be absent.
	AbsentKey Reason = "absentKey"
	// StructuredSet is that the items of a set are lists or have fields.
	StructuredSet Reason = "structuredSet"
	// ProtectedGroup is that the API group is Kubernetes' own.
	ProtectedGroup Reason = "protectedGroup"
	// NoSuchField is that a path leads to a field that the schema does not have.
	NoSuchField Reason = "noSuchField"
	// NoPath is that a text is not a JSON path.
	NoPath Reason = "noPath"
	// TooLargeToApply is that kubectl apply cannot keep the definition in an annotation.
	TooLargeToApply Reason = "tooLargeToApply"
	// TooLargeToStore is that etcd refuses the definition.
	TooLargeToStore Reason = "tooLargeToStore"
	// UnknownField is that a sample has a field that its definition does not have.
	UnknownField Reason = "unknownField"
)

// words are how the API server's libraries in go.mod begin what they say of a reason, or what they say in between. The
// golden files of TestCheck hold all of these to it.
var words = []struct {
	reason  Reason
	kind    field.ErrorType
	begins  string
	between string
}{
	{RuleCostShare, field.ErrorTypeForbidden, "contributed to estimated rule cost total", ""},
	{RuleCostSum, field.ErrorTypeForbidden, "x-kubernetes-validations estimated rule cost total", ""},
	{RuleCost, field.ErrorTypeForbidden, "estimated ", " cost exceeds budget"}, // of a rule or its messageExpression
	{UndefinedField, field.ErrorTypeInvalid, "", ": undefined field '"},
	{NoOldValue, field.ErrorTypeInvalid, "oldSelf cannot be used on the uncorrelatable portion", ""},
	{Untyped, field.ErrorTypeRequired, "must not be empty ", ""}, // the root, and what is specified in it
	{AbsentKey, field.ErrorTypeRequired, "this property is in x-kubernetes-list-map-keys", ""},
	{ProtectedGroup, field.ErrorTypeRequired, "protected groups", ""},
	{ProtectedGroup, field.ErrorTypeInvalid, "protected groups", ""},
}

// reasonOf is the reason of an error of the API server's libraries. A type is all that is required as not to be empty
// besides the properties of embedded resources and the keys of list maps.
func reasonOf(e *field.Error) Reason {
	detail, _, _ := strings.Cut(e.Detail, "\n") // the user's own text follows
	for _, w := range words {
		if e.Type == w.kind && strings.HasPrefix(detail, w.begins) && strings.Contains(detail, w.between) {
			if w.reason == Untyped && !strings.HasSuffix(e.Field, ".type") {
				continue
			}
			return w.reason
		}
	}
	return ""
}

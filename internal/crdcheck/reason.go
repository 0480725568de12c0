package crdcheck

// Reason is what a finding is about, as far as slipway does something about it: most findings have none. The program
// decides it, beside the libraries whose messages it reads.
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

package crdcheck

import "strings"

// What an API server says about the cost of rules, see costs in k8s.io/apiextensions-apiserver's validation.
const (
	costly      = "exceeds budget"
	contributed = "contributed to estimated rule cost total"
)

// Untyped reports whether the finding is that the schema says nothing about a place.
func (f Finding) Untyped() bool {
	return strings.HasSuffix(f.Path, ".type") && strings.HasPrefix(f.Message, "must not be empty")
}

// Costly reports whether the finding is about the cost of CEL rules.
func (f Finding) Costly() bool {
	return strings.Contains(f.Message, costly) || strings.Contains(f.Message, contributed)
}

// Distinct leaves out what follows from another finding: a rule that costs too much also makes the sum of all rules
// too much, and an API server reports it for both, and for the whole definition.
func Distinct(findings []Finding) []Finding {
	alone := make(map[string]bool) // by path, rules that cost too much by themselves
	files := make(map[string]bool) // and the files that have them
	for _, f := range findings {
		if isRule(f.Path) && strings.Contains(f.Message, costly) {
			alone[f.File+f.Path] = true
			files[f.File] = true
		}
	}
	var distinct []Finding
	for _, f := range findings {
		sum := strings.Contains(f.Message, contributed) && alone[f.File+f.Path]
		whole := !isRule(f.Path) && strings.Contains(f.Message, costly) && files[f.File]
		if !sum && !whole {
			distinct = append(distinct, f)
		}
	}
	return distinct
}

func isRule(path string) bool { return strings.Contains(path, ".x-kubernetes-validations[") }

package crdcheck

// Untyped reports whether the finding is that the schema says nothing about a place.
func (f Finding) Untyped() bool { return f.Reason == Untyped }

// Costly reports whether the finding is about the cost of CEL rules.
func (f Finding) Costly() bool {
	return f.Reason == RuleCost || f.Reason == RuleCostShare || f.Reason == RuleCostSum
}

// Distinct leaves out what follows from another finding: a rule that costs too much also makes the sum of all rules
// too much, and an API server reports it for both, and for the whole definition.
func Distinct(findings []Finding) []Finding {
	alone := make(map[string]bool) // by path, rules that cost too much by themselves
	files := make(map[string]bool) // and the files that have them
	for _, f := range findings {
		if f.Reason == RuleCost {
			alone[f.File+f.Path] = true
			files[f.File] = true
		}
	}
	var distinct []Finding
	for _, f := range findings {
		share := f.Reason == RuleCostShare && alone[f.File+f.Path]
		sum := f.Reason == RuleCostSum && files[f.File]
		if !share && !sum {
			distinct = append(distinct, f)
		}
	}
	return distinct
}

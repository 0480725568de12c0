package crdcheck_test

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/crdcheck"
)

// TestDistinct: a cost is reported where it arises, once.
func TestDistinct(t *testing.T) {
	const schema = "spec.versions[0].schema.openAPIV3Schema"
	const rule = schema + ".properties[spec].x-kubernetes-validations[0].rule"
	costly := crdcheck.Finding{File: "a", Path: rule, Reason: crdcheck.RuleCost, Message: "estimated rule cost exceeds budget by factor of 3x"}
	part := crdcheck.Finding{File: "a", Path: rule, Reason: crdcheck.RuleCostShare, Message: "contributed to estimated rule cost total exceeding cost limit"}
	total := crdcheck.Finding{File: "a", Path: schema, Reason: crdcheck.RuleCostSum, Message: "estimated rule cost total exceeds budget by factor of 3x"}
	other := crdcheck.Finding{File: "a", Path: schema + ".properties[spec].format", Message: "unknown"}
	if got := crdcheck.Distinct([]crdcheck.Finding{part, other, costly, total}); !slices.Equal(got, []crdcheck.Finding{other, costly}) {
		t.Errorf("one rule that costs too much: %v", got)
	}
	both := []crdcheck.Finding{part, total}
	if got := crdcheck.Distinct(both); !slices.Equal(got, both) {
		t.Errorf("rules that cost too much together: %v", got)
	}
	costly.File = "b"
	if got := crdcheck.Distinct([]crdcheck.Finding{costly, total}); len(got) != 2 {
		t.Errorf("files are judged by themselves: %v", got)
	}
}

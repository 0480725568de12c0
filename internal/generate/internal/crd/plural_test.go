package crd_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gobuffalo/flect"

	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/project"
)

// syllables make names whose plural depends on where words begin and end: single letters, abbreviations, and
// words that are irregular, or plurals already.
var syllables = []string{
	"A", "S", "X", "I", "Is", "Us", "Um", "On", "Ex", "Ix", "Ia", "Data", "Index", "Matrix", "Axis", "Status", "Series", "Person",
	"Mouse", "Fish", "Policy", "Bus", "Box", "Leaf", "Hero", "Example", "App", "Job", "DNS", "OS", "API", "GPU", "HTTP", "V", "Set", "2",
}

// kindNames returns n names of kinds, the same each time.
func kindNames(n int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	names := make([]string, n)
	for i := range names {
		name := syllables[random.IntN(len(syllables)-1)] // "2", the last, begins no name
		for range random.IntN(4) {
			name += syllables[random.IntN(len(syllables))]
		}
		names[i] = name
	}
	return names
}

// TestPlural: files are scaffolded for the plural that the generator gives a kind, which is controller-gen's.
func TestPlural(t *testing.T) {
	latin := 0
	for _, name := range kindNames(10_000) {
		generated := crd.Plural(name, nil)
		if scaffolded := (project.Resource{Kind: name}).PluralName(); scaffolded != generated {
			t.Errorf("%s: files are scaffolded for %s, and the definition is of %s", name, scaffolded, generated)
		}
		if want := strings.ToLower(flect.Pluralize(name)); generated != want {
			t.Errorf("the plural of %s is %s, want controller-gen's %s", name, generated, want)
		}
		if generated != flect.Pluralize(strings.ToLower(name)) {
			latin++
		}
	}
	if latin == 0 {
		t.Error("there is no name whose plural depends on where its words begin")
	}
}

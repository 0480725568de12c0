package prove

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestSeeds: in the correct operator nothing is found by any of 2,000 plans, 100 for each seed, with a failure at any
// request, and each fifth time with two.
func TestSeeds(t *testing.T) {
	dir := written(t, "tenant", tenantCommand(""), acme, grow, green, gone)
	learned := filepath.Join(t.TempDir(), "learned.json")
	for seed := 1; seed <= 20; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			depth := 1
			if seed%5 == 0 {
				depth = 2
			}
			r, code := proveIn(t, dir, "-f", "scenario.yaml", "--all", "--depth", fmt.Sprint(depth), "--seed", fmt.Sprint(seed), "--plans", "100", "--learned", learned)
			r.isCorrect(t, code)
			if r.Plans != 100 {
				t.Errorf("%d plans were carried out", r.Plans)
			}
		})
	}
}

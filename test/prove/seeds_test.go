package prove

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestSeeds: in the correct operator nothing is found by any of 2,000 plans, 100 for each seed, with one failure or two
// at any request.
func TestSeeds(t *testing.T) {
	dir := written(t, "tenant", tenantCommand(""), acme, zeta, grow, shrink, green, unlabelled, gone)
	learned := filepath.Join(t.TempDir(), "learned.json")
	for seed := 1; seed <= 20; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r, code := proveIn(t, dir, "-f", "scenario.yaml", "--all", "--depth", "2", "--time-travel", "--seed", fmt.Sprint(seed), "--plans", "100", "--learned", learned)
			r.isCorrect(t, code)
			if r.Plans != 100 {
				t.Errorf("%d plans were carried out", r.Plans)
			}
		})
	}
}

package prove

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/junit"
)

// JUnit is the report with a case for each finding, and one for all plans without.
func (r *Report) JUnit() junit.Suite {
	suite := junit.Suite{Name: "prove", Time: (r.Learning + r.Exploring).Seconds()}
	for _, f := range r.Findings {
		if !f.Confirmed {
			continue
		}
		var failures []junit.Failure
		if f.Accepted == "" {
			var b strings.Builder
			r.tell(&b, f)
			failures = []junit.Failure{{Message: f.Plans[0].Sentence(r.Scenario.Steps), Text: b.String()}}
		}
		suite.Add("finding "+f.ID, failures...)
	}
	suite.Add(fmt.Sprintf("%d plans", r.Plans))
	return suite
}

package prove

import (
	"slices"
	"time"
)

// An Acceptance is a finding that a team has decided to live with.
type Acceptance struct {
	ID      string
	Reason  string
	Expires time.Time // the day on which the finding counts again
}

// Accept marks the findings that are accepted on a day. It returns the IDs of those that were accepted until then, and
// those that no finding has.
func (r *Report) Accept(all []Acceptance, now time.Time) (expired, unknown []string) {
	for _, a := range all {
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.ID == a.ID })
		switch {
		case i < 0:
			unknown = append(unknown, a.ID)
		case !now.Before(a.Expires):
			expired = append(expired, a.ID)
		default:
			r.Findings[i].Accepted = a.Reason
		}
	}
	return expired, unknown
}

// New are the findings that came again and are not accepted.
func (r *Report) New() (findings []Finding) {
	for _, f := range r.Findings {
		if f.Confirmed && f.Accepted == "" {
			findings = append(findings, f)
		}
	}
	return findings
}

package rehearsal

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Report is what a rehearsal has found. The JSON form is stable; times are in nanoseconds.
type Report struct {
	From     string              `json:"from"`
	To       string              `json:"to"`
	Objects  int                 `json:"objects"` // custom resources that were read and written
	Service  []Service           `json:"service"`
	Stored   map[string]Versions `json:"stored"`            // by definition
	Untried  []string            `json:"untried,omitempty"` // what the rehearsal says nothing about, with the reason
	Findings []Finding           `json:"findings"`
	WayBack  bool                `json:"wayBack"` // the old revision works again
	Passed   bool                `json:"passed"`  // no finding is fatal
	Elapsed  time.Duration       `json:"elapsedNanoseconds"`

	begin time.Time
	stuck bool // the way back does not work
}

// Service is how the requests of the client went while a revision was deployed.
type Service struct {
	Phase    Phase         `json:"phase"`
	Requests int           `json:"requests"`
	Refused  int           `json:"refused"`
	Gap      time.Duration `json:"gapNanoseconds"`     // the longest time without an answer to one sort of request
	Longest  time.Duration `json:"longestNanoseconds"` // an answer took
	Deployed time.Duration `json:"deployedNanoseconds"`
}

// Versions are those in which objects of a definition may be stored.
type Versions struct {
	Before  []string `json:"before"`
	Upgrade []string `json:"upgrade"`
	WayBack []string `json:"wayBack"`
}

func newReport(r Rehearsal) *Report {
	return &Report{From: r.From.Name, To: r.To.Name, Service: []Service{}, Findings: []Finding{}, Stored: map[string]Versions{}, begin: time.Now()}
}

// add adds findings. One that the upgrade has caused is not repeated for the way back.
func (r *Report) add(findings ...Finding) {
	for _, f := range findings {
		r.stuck = r.stuck || f.Fatal && f.Phase == backPhase && f.Class != NoService // also if it was so before the way back
		if !slices.ContainsFunc(r.Findings, func(known Finding) bool { return known.covers(f) }) {
			r.Findings = append(r.Findings, f)
		}
	}
}

// covers reports whether another finding says nothing new.
func (f Finding) covers(other Finding) bool {
	return f.Object == other.Object && f.Field == other.Field && f.Class == other.Class && f.Text == other.Text
}

// explains reports whether another finding is a consequence: a field that a conversion loses is gone when a client has
// written in that version.
func (f Finding) explains(other Finding) bool {
	return f.Class == LossyConversion && f.Object == other.Object && f.Field == other.Field && (other.Class == FieldLost || other.Class == FieldChanged)
}

// noteStored notes in which versions objects are stored.
func (u *upgrade) noteStored(phase Phase, after *snapshot) {
	for definition, before := range u.before.stored {
		v := u.report.Stored[definition]
		v.Before = before
		if phase == upgradePhase {
			v.Upgrade = after.stored[definition]
		} else {
			v.WayBack = after.stored[definition]
		}
		u.report.Stored[definition] = v
	}
}

// finish orders the findings, fatal ones first, and decides.
func (r *Report) finish() {
	all := slices.Clone(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		return slices.ContainsFunc(all, func(other Finding) bool { return other.explains(f) })
	})
	phases := []Phase{fromPhase, upgradePhase, backPhase}
	fatal := func(f Finding) int {
		if f.Fatal {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(fatal(a)-fatal(b), slices.Index(phases, a.Phase)-slices.Index(phases, b.Phase), strings.Compare(string(a.Class), string(b.Class)))
	})
	isFatal := func(f Finding) bool { return f.Fatal }
	r.Passed = !slices.ContainsFunc(r.Findings, isFatal)
	r.WayBack = !r.stuck
	r.Elapsed = time.Since(r.begin)
}

// Add adds findings that were made without a cluster, before the text is made.
func (r *Report) Add(findings ...Finding) {
	r.add(findings...)
	r.finish()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

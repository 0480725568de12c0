package rehearsal

import (
	"fmt"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/ship"
)

// service is what a client has seen while a revision was deployed.
type service struct {
	targets  []target
	outcomes []outcome
	last     []error // what became of each target in the end
}

// requests counts them, and those that were refused at first.
func (s service) requests() (all, refused int) {
	for _, o := range s.outcomes {
		if o.refusal != nil {
			refused++
		}
	}
	return len(s.outcomes), refused
}

// longest is the time that the slowest answer took.
func (s service) longest() (took time.Duration) {
	for _, o := range s.outcomes {
		took = max(took, o.took)
	}
	return took
}

// A gap is a time in which requests of a sort were refused.
type gap struct {
	first   target // that was refused
	lasted  time.Duration
	refused int
	err     error
}

// gaps are the longest times, of each sort of request, from one that was refused to the next that was answered. Targets
// that are refused in the end are left out: for them service does not come back.
func (s service) gaps() (gaps []gap) {
	sorts := map[string][]outcome{}
	for _, o := range s.outcomes {
		if s.last[o.of] == nil {
			sorts[s.targets[o.of].sort()] = append(sorts[s.targets[o.of].sort()], o)
		}
	}
	for _, name := range sortedKeys(sorts) {
		if g, any := s.gapIn(sorts[name]); any {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// repeated are the requests of each sort that were refused once and then answered, as gaps without a length: service
// was there. Sorts that were refused for longer are left out: where a gap begins and ends, chance decides.
func (s service) repeated() (all []gap) {
	sorts, absent := map[string]gap{}, map[string]bool{}
	for _, o := range s.outcomes {
		sort := s.targets[o.of].sort()
		absent[sort] = absent[sort] || o.err != nil
		if o.refusal == nil {
			continue
		}
		g := sorts[sort]
		if g.refused++; g.refused == 1 {
			g.first, g.err = s.targets[o.of], o.refusal
		}
		sorts[sort] = g
	}
	for _, name := range sortedKeys(sorts) {
		if !absent[name] {
			all = append(all, sorts[name])
		}
	}
	return all
}

// gapIn is the longest gap in outcomes of one sort; any is false if nothing was refused. Answers may have come in
// another order than requests, so these count by their begin.
func (s service) gapIn(outcomes []outcome) (g gap, any bool) {
	slices.SortFunc(outcomes, func(a, b outcome) int { return a.begin.Compare(b.begin) })
	var open time.Time
	var end time.Time
	for _, o := range outcomes {
		end = o.begin.Add(o.took)
		switch {
		case o.err != nil:
			if g.refused++; g.refused == 1 {
				g.first, g.err = s.targets[o.of], o.err
			}
			if open.IsZero() {
				open = o.begin
			}
		case !open.IsZero():
			g.lasted = max(g.lasted, o.begin.Sub(open))
			open = time.Time{}
		}
	}
	if !open.IsZero() {
		g.lasted = max(g.lasted, end.Sub(open))
	}
	return g, g.refused > 0
}

// recovered leaves out what was refused from the beginning on: that service comes back is no gap. Down are the targets
// that were refused in the end of what was before, by name.
func (s service) recovered(down map[string]bool) service {
	open := map[int]bool{}
	for i, t := range s.targets {
		open[i] = down[t.name()]
	}
	outcomes := slices.Clone(s.outcomes)
	slices.SortFunc(outcomes, func(a, b outcome) int { return a.begin.Compare(b.begin) })
	s.outcomes = slices.DeleteFunc(outcomes, func(o outcome) bool {
		open[o.of] = open[o.of] && o.err != nil
		return open[o.of]
	})
	return s
}

// down are the targets that are refused in the end, by name.
func (s service) down() map[string]bool {
	down := map[string]bool{}
	for i, err := range s.last {
		down[s.targets[i].name()] = err != nil
	}
	return down
}

// addService adds what a client has seen. Down are the targets that were refused before, by name.
func (r *Report) addService(phase Phase, s service, down map[string]bool, took time.Duration) {
	all, refused := s.requests()
	sum := Service{Phase: phase, Deployed: took, Requests: all, Refused: refused, Longest: s.longest()}
	for _, g := range s.recovered(down).gaps() {
		sum.Gap = max(sum.Gap, g.lasted)
		r.add(Finding{Phase: phase, Class: NoService, Object: ship.NameOf(g.first.object), Versions: []string{g.first.version}, Fatal: true,
			Text: fmt.Sprintf("%s was refused for %s (%d requests): %v", g.first, g.lasted.Round(time.Millisecond), g.refused, g.err)})
	}
	for _, g := range s.repeated() {
		r.add(Finding{Phase: phase, Class: Repeated, Object: ship.NameOf(g.first.object), Versions: []string{g.first.version},
			Text: fmt.Sprintf("%s was refused once and answered when repeated (%d requests): %v", g.first, g.refused, g.err)})
	}
	for i, err := range s.last {
		if err != nil {
			r.add(s.targets[i].refused(phase, err))
		}
	}
	r.Service = append(r.Service, sum)
}

// String is the request in words.
func (t target) String() string { return string(t.verb) + " as " + t.version }

// refused is the finding for a request that is refused in the end.
func (t target) refused(phase Phase, err error) Finding {
	f := Finding{Phase: phase, Class: WriteRefused, Object: ship.NameOf(t.object), Versions: []string{t.version}, Text: fmt.Sprintf("%s is refused: %v", t, err), Fatal: true}
	if t.verb == read {
		f.Class = ReadRefused
	}
	return f
}

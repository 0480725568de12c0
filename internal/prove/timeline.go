package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Moment is a line of a timeline.
type Moment struct {
	Step  int           // counts from 0
	After time.Duration // the first moment of the run
	Text  string
	Fault bool // the request met the fault

	at time.Time
}

// timeline are the operator's requests and all that was stored, in order, by steps.
func timeline(ref *Reference, o *outcome) (lines []string) {
	step := -1
	for _, m := range moments(ref, o) {
		if m.Step != step {
			step = m.Step
			lines = append(lines, fmt.Sprintf("step %d: %s", step+1, ref.scenario.Steps[step]))
		}
		lines = append(lines, m.String())
	}
	return lines
}

// moments are those of a timeline.
func moments(ref *Reference, o *outcome) (all []Moment) {
	for _, r := range o.requests {
		text := "operator  " + ref.point(r).String() + answered(r)
		if r.fault != "" {
			text += " ← " + r.fault
		}
		all = append(all, Moment{Step: r.step, Text: text, Fault: r.fault != "", at: r.at})
	}
	for _, c := range o.changes {
		by := "others"
		if i := slices.IndexFunc(o.requests, func(r *Request) bool {
			return r.effective && c.revision > r.began && c.revision <= r.ended && c.isOf(r, "")
		}); i >= 0 {
			by = strings.TrimSpace("operator " + o.requests[i].operator)
		}
		all = append(all, Moment{Step: c.step, Text: "  stored  " + c.String() + ", by " + by, at: c.at})
	}
	slices.SortStableFunc(all, func(a, b Moment) int { return a.at.Compare(b.at) })
	for i := range all {
		all[i].After = all[i].at.Sub(all[0].at)
	}
	return all
}

// String is the moment as a line.
func (m Moment) String() string { return fmt.Sprintf("%8.3fs %s", m.After.Seconds(), m.Text) }

// answered says how a request was answered.
func answered(r *Request) string {
	switch {
	case r.status == 0:
		return " → no answer"
	case r.writes() && !r.effective && r.status < 300:
		return " → changes nothing"
	}
	return fmt.Sprintf(" → %d", r.status)
}

// String names the object, and the fields that have changed.
func (c change) String() string {
	object := c.object
	if object == nil {
		object = c.before
	}
	if object == nil {
		return "deleted " + c.key
	}
	name := identify(text(object["kind"]), metadata(object, "namespace"), metadata(object, "name"))
	switch {
	case c.deleted:
		return "deleted " + name
	case c.before == nil:
		return name
	}
	return name + changedFields(c.before, c.object)
}

// shownFields bounds how many fields of a change are named.
const shownFields = 3

// changedFields are those that differ between two forms of an object, but for the server's own.
func changedFields(before, after map[string]any) string {
	was, is := replacements{}.fields(before), replacements{}.fields(after)
	var changed []string
	for path := range was {
		if is[path] != was[path] {
			changed = append(changed, path)
		}
	}
	for path := range is {
		if _, had := was[path]; !had {
			changed = append(changed, path)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	slices.Sort(changed)
	more := ""
	if len(changed) > shownFields {
		more = fmt.Sprintf(" and %d more", len(changed)-shownFields)
		changed = changed[:shownFields]
	}
	for i, path := range changed {
		changed[i] = path + "=" + is[path]
	}
	return " (" + strings.Join(changed, ", ") + more + ")"
}

// fields are the values of an object by their paths.
func (r replacements) fields(object map[string]any) map[string]string {
	fields := map[string]string{}
	flatten(fields, "", r.scrub(maps.Clone(object)))
	return fields
}

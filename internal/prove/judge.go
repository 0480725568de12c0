package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// key is the same of symptoms with one cause. Objects that differ by a number, such as the pods of a set, have one.
func (s Symptom) key() string {
	first := ""
	switch {
	case s.Oracle == Restless: // what differs is a matter of the moment
		if len(s.Details) > 0 {
			first = s.Details[0]
		}
	case len(s.Differences) > 0:
		d := s.Differences[0]
		first = d.Object + "|" + d.Field
	case s.Oracle == Extra && len(s.Details) > 0: // how often varies
		first, _, _ = strings.Cut(s.Details[0], ": ")
	case s.Oracle == WritesAgain && len(s.Details) > 0: // what an earlier process has made, a later one changes
		_, first, _ = strings.Cut(s.Details[0], " ")
	case len(s.Details) > 0:
		first = s.Details[0]
	}
	return fmt.Sprintf("%s|%s", s.Oracle, number().ReplaceAllString(first, "0"))
}

var number = lazy.Regexp(`[0-9]+`)

// judge finds what is wrong with a run as a whole.
func (r *run) judge() {
	o := r.outcome
	for _, q := range o.requests {
		if sort := r.ref.whole(q).String(); q.status == 403 && !r.ref.refused[sort] && !r.learning {
			r.wrong(Symptom{Oracle: Forbidden, Details: []string{sort}})
			break
		}
	}
	if mistaken := r.world.mistaken(); mistaken != "" { // and is the cause of what else is wrong
		s := Symptom{Oracle: Mistaken, Step: min(r.step, len(r.scenario.Steps)-1), Details: []string{mistaken}}
		o.symptoms = slices.Insert(o.symptoms, 0, s)
	}
	if len(o.symptoms) > 0 {
		return // what follows from it is not looked for
	}
	if back := r.ref.generationBack(o.changes); back != "" {
		r.wrong(Symptom{Oracle: Backwards, Details: []string{back}})
		return
	}
	if r.plan.Kind.mayWander() {
		return
	}
	if r.plan.Kind == Without {
		if left := r.ref.leftBehind(); len(left) > 0 {
			r.step = len(r.scenario.Steps) - 1
			r.wrong(Symptom{Oracle: LeftBehind, Details: left})
		}
	}
	var extra []string
	for at, n := range creations(r.ref, o.requests) {
		if r.plan.Kind == TimeTravel && at.Verb == "create" { // what is gone and was needed once: the garbage collector's
			continue
		}
		if most := r.ref.counts[at]; n > most && !r.ref.ignored(Difference{Object: identify(r.world.kinds[resource{at.Group, at.Resource}], at.Namespace, at.Name), Got: presence}) {
			extra = append(extra, fmt.Sprintf("%s: %d times, without the fault %d", at.sort(), n, most))
		}
	}
	if len(extra) > 0 {
		r.step = len(r.scenario.Steps) - 1
		r.wrong(Symptom{Oracle: Extra, Details: sorted(extra)})
	}
}

// leftBehind are objects that the operator has made, and that stay although users have deleted all that they had made:
// those that are named after something that was deleted. What serves several objects may stay.
func (ref *Reference) leftBehind() (left []string) {
	deleted := map[string]bool{}
	for _, s := range ref.scenario.Steps {
		switch verb, object := s.what(); verb {
		case "apply":
			deleted[text(object["kind"])+" "+metadata(object, "name")] = false
		case "delete":
			deleted[text(object["kind"])+" "+metadata(object, "name")] = true
		}
	}
	for _, gone := range deleted {
		if !gone {
			return nil
		}
	}
	for _, id := range ref.leftover {
		if !ref.isStrict(id) || ref.ignored(Difference{Object: id, Got: presence}) {
			continue
		}
		for object := range deleted {
			if _, name, _ := strings.Cut(object, " "); namedAfter(id[strings.LastIndexByte(id, '/')+1:], name) {
				left = append(left, id)
				break
			}
		}
	}
	return left
}

// namedAfter reports whether a name has another one as a part between dashes or dots.
func namedAfter(name, part string) bool {
	const separators = "-."
	for {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		end := i + len(part)
		if (i == 0 || strings.ContainsRune(separators, rune(name[i-1]))) && (end == len(name) || strings.ContainsRune(separators, rune(name[end]))) {
			return true
		}
		name = name[i+1:]
	}
}

// matters reports whether a write has changed something that is compared: neither ignored nor different by nature.
func (ref *Reference) matters(r *Request, changes []change) bool {
	i := slices.IndexFunc(changes, func(c change) bool { return fmt.Sprint(c.revision) == r.version })
	if i < 0 || changes[i].object == nil || changes[i].before == nil {
		return true
	}
	was, is, id := replacements{}.fields(changes[i].before), replacements{}.fields(changes[i].object), ref.identify(changes[i].object)
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if is[path] != was[path] && !ref.ignored(Difference{Object: id, Field: path}) {
			return true
		}
		delete(was, path)
	}
	for path := range was {
		if !ref.ignored(Difference{Object: id, Field: path}) {
			return true
		}
	}
	return false
}

// generationBack is an object whose status says that an older generation was observed than before; "" if there is none.
func (ref *Reference) generationBack(changes []change) string {
	for _, c := range changes {
		if c.object == nil || c.before == nil || metadata(c.object, "uid") != metadata(c.before, "uid") || ref.ignored(Difference{Object: ref.identify(c.object), Field: "status.observedGeneration"}) {
			continue
		}
		before, was := field(c.before, "status", "observedGeneration").(float64)
		now, is := field(c.object, "status", "observedGeneration").(float64)
		if was && is && now < before {
			return fmt.Sprintf("%s: status.observedGeneration was %v and became %v", identify(text(c.object["kind"]), metadata(c.object, "namespace"), metadata(c.object, "name")), before, now)
		}
	}
	return ""
}

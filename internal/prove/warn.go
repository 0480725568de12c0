package prove

import (
	"fmt"
	"maps"
	"slices"
)

// warn finds what an operator does without need in a run without a fault: writes that change nothing, a condition's
// lastTransitionTime that changes without its status, and two conditions of one type.
func (ref *Reference) warn(o *outcome) {
	idle, moved, twice := map[string]int{}, map[string]int{}, map[string]int{}
	own := map[string]bool{} // versions that the operator has written
	for _, r := range o.requests {
		own[r.version] = own[r.version] || r.effective
		if r.writes() && !r.effective && r.status < 300 && r.verb != "delete" && r.verb != "deletecollection" {
			idle[ref.whole(r).sort().String()]++
		}
	}
	for _, c := range o.changes {
		if c.object == nil || !own[fmt.Sprint(c.revision)] {
			continue
		}
		now, before := conditions(c.object), conditions(c.before)
		for kind, all := range now {
			if len(all) > 1 {
				twice[ref.identify(c.object)+" "+kind]++
			}
			if was := before[kind]; len(was) == 1 && len(all) == 1 && was[0]["status"] == all[0]["status"] && was[0]["lastTransitionTime"] != all[0]["lastTransitionTime"] && was[0]["lastTransitionTime"] != nil {
				moved[ref.identify(c.object)+" "+kind]++
			}
		}
	}
	for _, w := range []struct {
		of   map[string]int
		text string
	}{{idle, "%s changed nothing, %d times"}, {moved, "the condition %s got another lastTransitionTime, and kept its status, %d times"}, {twice, "the condition %s was there twice, after %d writes"}} {
		for _, what := range slices.Sorted(maps.Keys(w.of)) {
			ref.warnings = append(ref.warnings, fmt.Sprintf(w.text, what, w.of[what]))
		}
	}
}

// identify names an object as states do.
func (ref *Reference) identify(object map[string]any) string {
	namespace := metadata(object, "namespace")
	return identify(text(object["kind"]), namespace, ref.canon.canonical(namespace, metadata(object, "name")))
}

// conditions are those of an object's status, by their types.
func conditions(object map[string]any) map[string][]map[string]any {
	all := map[string][]map[string]any{}
	list, _ := field(object, "status", "conditions").([]any)
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			kind := text(fields["type"])
			all[kind] = append(all[kind], fields)
		}
	}
	return all
}

package prove

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A state is what of a cluster's objects is the same in each run: their fields by path, without times, identities and
// names that are made at random. An object that the operator has no part in counts by its existence.
type state map[string]map[string]string

// A Difference is an object or a field that is not as in runs without a fault.
type Difference struct {
	Object string `json:"object"`
	Field  string `json:"field,omitempty"` // empty: the whole object
	Want   string `json:"want,omitempty"`  // empty: it should not be there
	Got    string `json:"got,omitempty"`   // empty: it is not there
}

// String is the difference as a line.
func (d Difference) String() string {
	d.Want, d.Got = oneLine(d.Want), oneLine(d.Got)
	switch {
	case d.Field == "" && d.Want == "":
		return d.Object + " should not be there"
	case d.Field == "":
		return d.Object + " is missing"
	case d.Want == "":
		return fmt.Sprintf("%s %s: %s, should not be there", d.Object, d.Field, d.Got)
	case d.Got == "":
		return fmt.Sprintf("%s %s: missing, should be %s", d.Object, d.Field, d.Want)
	}
	return fmt.Sprintf("%s %s: %s, should be %s", d.Object, d.Field, d.Got, d.Want)
}

// oneLine is a value without line breaks, and no longer than a line or two.
func oneLine(value string) string {
	const most = 200
	if len(value) > most {
		value = value[:most] + "…"
	}
	return strings.ReplaceAll(value, "\n", "↵")
}

// someTime stands for a time.
const someTime = "(time)"

// presence stands for an object that counts by its existence.
const presence = "(exists)"

// mask is what varies between runs without a fault: objects, and fields as OBJECT|FIELD. Objects that are alike have
// their fields in common.
type mask map[string]bool

func (m mask) covers(object, field string) bool {
	return m[object] || field != "" && m[alike(object)+"|"+field]
}

// alike is the name of an object in a state without the number that it has among those with such names.
func alike(id string) string {
	if i := strings.LastIndexByte(id, '*'); i >= 0 {
		return id[:i+1]
	}
	return id
}

// differences are those of s from what is expected, in order.
func (s state) differences(expected state, varies mask) (all []Difference) {
	for object, fields := range expected {
		got, there := s[object]
		if !there {
			if !varies.covers(object, "") {
				all = append(all, Difference{Object: object, Want: presence})
			}
			continue
		}
		for field, want := range fields {
			if value, has := got[field]; (!has || value != want) && !varies.covers(object, field) {
				all = append(all, Difference{Object: object, Field: field, Want: want, Got: value})
			}
		}
		for field, value := range got {
			if _, has := fields[field]; !has && !varies.covers(object, field) {
				all = append(all, Difference{Object: object, Field: field, Got: value})
			}
		}
	}
	for object := range s {
		if _, wanted := expected[object]; !wanted && !varies.covers(object, "") {
			all = append(all, Difference{Object: object, Got: presence})
		}
	}
	slices.SortFunc(all, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(min(len(a.Field), 1), min(len(b.Field), 1)), strings.Compare(a.Object, b.Object), strings.Compare(a.Field, b.Field))
	})
	return all
}

// learn adds to a mask what differs between two states of the same moment.
func (m mask) learn(a, b state) {
	for _, d := range a.differences(b, nil) {
		if d.Field == "" {
			m[d.Object] = true
		} else {
			m[alike(d.Object)+"|"+d.Field] = true
		}
	}
}

// A canon makes states of objects.
type canon struct {
	names
	strict map[string]bool // objects whose fields count; nil: all
}

// thing is an object on its way into a state.
type thing struct {
	object                map[string]any
	kind, namespace, name string
	id                    string
	shape                 string
}

// state is that of the objects that differ from the baseline.
func (c canon) state(objects []map[string]any, gone []string) state {
	var things []*thing
	drawn := map[string][]*thing{} // with names that are made at random
	known := replacements{}
	for _, o := range objects {
		t := &thing{object: o, kind: text(o["kind"]), namespace: metadata(o, "namespace"), name: metadata(o, "name")}
		canonical := c.canonical(t.namespace, t.name)
		t.id = identify(t.kind, t.namespace, canonical)
		if remembers(o) && !c.strict[t.id] {
			known[t.name], known[metadata(o, "uid")] = canonical, "uid of "+t.id
			continue
		}
		if canonical != t.name {
			drawn[t.id] = append(drawn[t.id], t)
		}
		things = append(things, t)
	}
	known.identities(things)
	for _, t := range things {
		items(t.object, "", func(list, name string) {
			if pattern := c.drawn(list, name); pattern != "" {
				known[name] = pattern
			}
		})
	}
	for id, group := range drawn {
		for _, t := range group {
			t.shape = known.shape(t.object)
		}
		slices.SortStableFunc(group, func(a, b *thing) int { return strings.Compare(a.shape, b.shape) })
		for i, t := range group {
			t.id = fmt.Sprintf("%s%d", id, i)
			known[t.name] = fmt.Sprintf("%s%d", c.canonical(t.namespace, t.name), i)
		}
	}
	known.identities(things)
	s := state{}
	for _, t := range things {
		if c.strict != nil && !c.strict[identify(t.kind, t.namespace, c.canonical(t.namespace, t.name))] {
			s[t.id] = map[string]string{"": presence}
			continue
		}
		fields := map[string]string{}
		flatten(fields, "", known.scrub(t.object))
		s[t.id] = fields
	}
	for _, key := range gone {
		s["deleted "+key] = map[string]string{"": presence}
	}
	return s
}

// remembers reports whether an object is the memory of a controller of Kubernetes: the template of a workload's pods as
// it was for a while. How many templates are seen on the way to a state depends on the pace of that controller.
func remembers(object map[string]any) bool {
	switch text(object["apiVersion"]) + " " + text(object["kind"]) {
	case "apps/v1 ControllerRevision":
		return true
	case "apps/v1 ReplicaSet":
		return field(object, "spec", "replicas") == 0.0 && field(object, "metadata", "ownerReferences") != nil
	}
	return false
}

// items calls found for each item of a list that has a name, as volumes and containers do.
func items(v any, field string, found func(list, name string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			items(value, name, found)
		}
	case []any:
		for _, item := range v {
			if fields, is := item.(map[string]any); is {
				if name, is := fields["name"].(string); is {
					found("["+field+"]", name)
				}
			}
			items(item, field, found)
		}
	}
}

// identify names an object: Kind namespace/name.
func identify(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}

func field(object map[string]any, path ...string) any {
	var v any = object
	for _, name := range path {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = fields[name]
	}
	return v
}

func metadata(object map[string]any, name string) string {
	s, _ := field(object, "metadata", name).(string)
	return s
}

// text is a value as JSON has it, and a text as it is.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	encoded, err := json.Marshal(v)
	if err != nil { // it came as JSON
		return fmt.Sprint(v)
	}
	return string(encoded)
}

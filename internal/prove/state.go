package prove

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
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
	things := make([]*thing, len(objects))
	drawn := map[string][]*thing{} // with names that are made at random
	for i, o := range objects {
		t := &thing{object: o, kind: text(o["kind"]), namespace: metadata(o, "namespace"), name: metadata(o, "name")}
		canonical := c.canonical(t.namespace, t.name)
		t.id = identify(t.kind, t.namespace, canonical)
		if canonical != t.name {
			drawn[t.id] = append(drawn[t.id], t)
		}
		things[i] = t
	}
	known := replacements{}
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

// replacements are names and identities that differ from run to run, with what stands for them.
type replacements map[string]string

// identities adds the UIDs of all objects.
func (r replacements) identities(things []*thing) {
	for _, t := range things {
		if id := metadata(t.object, "uid"); id != "" {
			r[id] = "uid of " + t.id
		}
	}
}

// shape is an object's content without its name.
func (r replacements) shape(object map[string]any) string {
	o := r.scrub(object)
	if m, ok := o["metadata"].(map[string]any); ok {
		delete(m, "name")
	}
	encoded, err := json.Marshal(o)
	if err != nil { // it came as JSON
		return ""
	}
	return string(encoded)
}

// servers are the metadata that the server keeps: no operator decides them.
var servers = []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink", "deletionGracePeriodSeconds"}

// scrub is an object without what differs from run to run.
func (r replacements) scrub(object map[string]any) map[string]any {
	generation, _ := field(object, "metadata", "generation").(float64)
	o := scrubber{r, r.longest(), generation}.value(object, "").(map[string]any)
	m, _ := o["metadata"].(map[string]any)
	maps.DeleteFunc(m, func(name string, _ any) bool { return slices.Contains(servers, name) })
	if annotations, ok := m["annotations"].(map[string]any); ok && len(annotations) == 0 {
		delete(m, "annotations")
	}
	return o
}

// passed are annotations that are passed on from object to object, or come and go.
var passed = []string{"endpoints.kubernetes.io/last-change-trigger-time"}

// drawn are fields whose values the cluster draws.
var drawn = []string{"clusterIP", "clusterIPs", "podIP", "ip", "addresses", "nodePort", "healthCheckNodePort", "containerID", "resourceVersion"}

// A scrubber makes what is the same in each run of an object.
type scrubber struct {
	replacements
	parts      []string // that may be a part of a text, the longest first
	generation float64  // of the object
}

func (s scrubber) value(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if slices.Contains(passed, name) {
				continue
			}
			if seen, is := value.(float64); is && name == "observedGeneration" {
				out[name] = map[bool]string{true: "current", false: "old"}[seen == s.generation]
				continue
			}
			out[s.name(name)] = s.value(value, name)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.value(item, key)
		}
		return out
	case string:
		return s.text(v, key)
	}
	return v
}

func (s scrubber) text(v, key string) string {
	if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
		return someTime
	}
	if slices.Contains(drawn, key) {
		return "(" + key + ")"
	}
	return s.name(v)
}

// name is a text, or the key of a map, without names and identities that differ.
func (s scrubber) name(v string) string {
	if other, ok := s.replacements[v]; ok {
		return other
	}
	for _, part := range s.parts {
		if strings.Contains(v, part) {
			v = strings.ReplaceAll(v, part, s.replacements[part])
		}
	}
	return v
}

// longest are the names and identities that may be a part of a text, the longest first: one may be in another.
func (r replacements) longest() []string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(r)), func(name string) bool { return len(name) <= shortName })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return names
}

// shortName is the length up to which a name is replaced only where it is the whole text.
const shortName = 8

// listKeys are the fields by which lists are keyed, the best first.
var listKeys = []string{"type", "name", "key", "containerPort", "port", "uid"}

func flatten(into map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 && path != "" {
			into[path] = "{}"
		}
		for name, value := range v {
			if strings.ContainsAny(name, "./") {
				name = "[" + name + "]"
			}
			flatten(into, strings.TrimPrefix(path+"."+name, "."), value)
		}
	case []any:
		if len(v) == 0 {
			into[path] = "[]"
		}
		for i, name := range keys(v) {
			flatten(into, path+"["+name+"]", v[i])
		}
	default:
		into[path] = text(v)
	}
}

// keys name the items of a list.
func keys(list []any) []string {
	for _, key := range listKeys {
		var found []string
		for _, item := range list {
			fields, _ := item.(map[string]any)
			value, ok := fields[key]
			if name := text(value); ok && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
		if len(found) == len(list) && len(list) > 0 {
			return found
		}
	}
	found := make([]string, len(list))
	for i := range list {
		found[i] = fmt.Sprint(i)
	}
	return found
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

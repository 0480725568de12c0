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
		out, alike := make(map[string]any, len(v)), make(map[string][]any, len(v))
		for name, value := range v {
			if slices.Contains(passed, name) {
				continue
			}
			if seen, is := value.(float64); is && name == "observedGeneration" {
				out[name] = map[bool]string{true: "current", false: "old"}[seen == s.generation]
				continue
			}
			to := s.name(name)
			alike[to] = append(alike[to], s.value(value, name))
		}
		for name, values := range alike {
			if len(values) == 1 {
				out[name] = values[0]
				continue
			}
			slices.SortFunc(values, func(a, b any) int { return strings.Compare(text(a), text(b)) })
			for i, value := range values { // of names that differ from run to run
				out[fmt.Sprintf("%s%d", name, i)] = value
			}
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

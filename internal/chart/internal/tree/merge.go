package tree

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// A Variant is a value as it is while a feature is off.
type Variant struct {
	On    Condition // holds while the feature is on
	Value any       // as encoding/json decodes it
	Gone  bool      // the value does not exist
}

// An Alternative is the value while a condition holds.
type Alternative struct {
	When  Condition
	Value Node
}

// Merge makes one tree of a value with all features on and of its variants, none of which is Gone. It merges maps and
// lists part by part. Other values that differ become alternatives, of which one holds at a time.
func Merge(full any, variants []Variant) []Alternative {
	switch full := full.(type) {
	case map[string]any:
		if maps, ok := allOf[map[string]any](variants); ok {
			return []Alternative{{Value: mergeMaps(full, variants, maps)}}
		}
	case []any:
		if lists, ok := allOf[[]any](variants); ok {
			return []Alternative{{Value: mergeLists(full, variants, lists)}}
		}
	default:
		if !slices.ContainsFunc(variants, func(v Variant) bool { return !same(v.Value, full) }) {
			return []Alternative{{Value: Scalar{full}}}
		}
	}
	return choices(full, variants)
}

// allOf returns the variants' values if all have the type.
func allOf[T any](variants []Variant) ([]T, bool) {
	var values []T
	for _, v := range variants {
		value, ok := v.Value.(T)
		if !ok {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// choices returns the full value for when all features that it needs are on, and the variants' otherwise. The first
// feature that is off decides.
func choices(full any, variants []Variant) []Alternative {
	var on Condition
	var others []Alternative
	for _, v := range variants {
		if same(v.Value, full) {
			continue
		}
		others = append(others, Alternative{All(v.On.Not(), on), Literal(v.Value)})
		on = All(on, v.On)
	}
	return append([]Alternative{{on, Literal(full)}}, others...)
}

func mergeMaps(full map[string]any, variants []Variant, values []map[string]any) *Map {
	keys := maps.Clone(full)
	for _, value := range values {
		maps.Copy(keys, value)
	}
	merged := &Map{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		of := make([]Variant, len(variants))
		for i, v := range variants {
			value, there := values[i][key]
			of[i] = Variant{On: v.On, Value: value, Gone: !there}
		}
		value, there := full[key]
		for _, a := range MergePart(value, there, of) {
			merged.Fields = append(merged.Fields, Field{Key: key, When: a.When, Value: a.Value})
		}
	}
	return merged
}

// MergePart is Merge for a value that may not exist: with all features on, unless there is set, and in any variant.
func MergePart(full any, there bool, variants []Variant) []Alternative {
	if !there {
		return additions(variants)
	}
	var on Condition
	var kept []Variant
	for _, v := range variants {
		if v.Gone {
			on = All(on, v.On)
			continue
		}
		kept = append(kept, v)
	}
	alternatives := Merge(full, kept)
	for i := range alternatives {
		alternatives[i].When = All(on, alternatives[i].When)
	}
	return alternatives
}

// additions returns values that exist only while a feature is off.
func additions(variants []Variant) []Alternative {
	var all []Alternative
	var earlier Condition // all features are on that change the value when they are off
	for i, v := range variants {
		if v.Gone || slices.ContainsFunc(variants[:i], func(o Variant) bool { return !o.Gone && same(o.Value, v.Value) }) {
			continue
		}
		var off []Condition
		var on Condition
		for _, o := range variants[i:] {
			if !o.Gone && same(o.Value, v.Value) {
				off = append(off, o.On.Not())
				on = All(on, o.On)
			}
		}
		all = append(all, Alternative{All(Any(off...), earlier), Literal(v.Value)})
		earlier = All(earlier, on)
	}
	return all
}

// mergeLists merges item by item. Items with the same name, or without names the same content, are the same.
func mergeLists(full []any, variants []Variant, values [][]any) *List {
	ids := identities(full)
	theirs := make([][]string, len(values))
	in := make([]map[string]any, len(values)) // by identity
	for i, value := range values {
		theirs[i] = counterparts(full, ids, value, identities(value))
		in[i] = map[string]any{}
		for j, id := range theirs[i] {
			in[i][id] = value[j]
		}
	}
	merged := &List{}
	add := func(id string, full any, there bool) {
		of := make([]Variant, len(variants))
		for i, v := range variants {
			value, there := in[i][id]
			of[i] = Variant{On: v.On, Value: value, Gone: !there}
		}
		for _, a := range MergePart(full, there, of) {
			merged.Items = append(merged.Items, Item{When: a.When, Value: a.Value})
		}
	}
	added := map[string]bool{}
	addAfter := func(previous string) {
		for _, list := range theirs {
			for _, id := range after(list, previous, ids) {
				if !added[id] {
					added[id] = true
					add(id, nil, false)
				}
			}
		}
	}
	addAfter("")
	for i, id := range ids {
		add(id, full[i], true)
		addAfter(id)
	}
	return merged
}

// counterparts returns the identities of a list's items. If the lists have the same length, a map without a counterpart
// by identity gets the identity of the map at its index: it counts as a changed form of that.
func counterparts(full []any, ids []string, list []any, own []string) []string {
	if len(full) != len(list) {
		return own
	}
	result := slices.Clone(own)
	for i, item := range list {
		_, isMap := item.(map[string]any)
		_, wasMap := full[i].(map[string]any)
		if isMap && wasMap && !slices.Contains(ids, own[i]) && !slices.Contains(own, ids[i]) {
			result[i] = ids[i]
		}
	}
	return result
}

// after returns the unknown identities that directly follow previous in list. "" is before the first.
func after(list []string, previous string, known []string) []string {
	at := 0
	if previous != "" {
		at = slices.Index(list, previous) + 1
		if at == 0 {
			return nil
		}
	}
	end := at
	for end < len(list) && !slices.Contains(known, list[end]) {
		end++
	}
	return list[at:end]
}

// identities returns texts that distinguish the items of a list, and are equal for the same item in another list.
func identities(list []any) []string {
	ids := make([]string, len(list))
	seen := map[string]int{}
	for i, item := range list {
		id := identity(item)
		seen[id]++
		ids[i] = fmt.Sprintf("%s #%d", id, seen[id])
	}
	return ids
}

func identity(item any) string {
	if m, ok := item.(map[string]any); ok {
		for _, key := range []string{"name", "mountPath"} {
			if name, ok := m[key].(string); ok {
				return key + " " + name
			}
		}
	}
	text, err := json.Marshal(item)
	if err != nil { // not a value of JSON
		return fmt.Sprintf("%#v", item)
	}
	return string(text)
}

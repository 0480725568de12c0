package delta

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxChanges = 100      // of one write
	maxValue   = 2 << 10  // of a field, in bytes of JSON
	maxObject  = 16 << 10 // of a new object
	maxDepth   = 64
)

// A Change is a change of one field.
type Change struct {
	Path          string // empty: the whole object
	Before, After json.RawMessage
}

// Changes returns the changes of fields that a body holds, and how many more there are. With field it returns those of
// that field, of what is in it and of what it is in. ToJSON decodes an object in Kubernetes' envelope of protobuf.
func Changes(body []byte, toJSON func([]byte) ([]byte, error), field string) (changes []Change, more int, err error) {
	c, err := unfold(body)
	if err != nil {
		return nil, 0, err
	}
	after, err := c.decode(c.after, toJSON)
	if err != nil {
		return nil, 0, err
	}
	clean(after)
	if c.created && field == "" {
		return []Change{{After: cut(after, maxObject)}}, 0, nil
	}
	before, err := c.decode(c.before, toJSON)
	if err != nil {
		return nil, 0, err
	}
	clean(before)
	d := differ{field: field}
	d.maps("", before, after, 0)
	return d.changes, d.more, nil
}

// clean drops what says nothing of its own.
func clean(object map[string]any) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range []string{"managedFields", "resourceVersion", "generation"} {
		delete(meta, name)
	}
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
	}
	if meta["creationTimestamp"] == nil { // as typed objects have it that lack their metadata
		delete(meta, "creationTimestamp")
	}
}

type differ struct {
	field   string
	changes []Change
	more    int
}

// covers reports whether one of both paths leads into the other.
func covers(field, path string) bool {
	inside := func(outer, inner string) bool {
		rest, ok := strings.CutPrefix(inner, outer)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	return inside(field, path) || inside(path, field)
}

func (d *differ) add(path string, before, after any) {
	if d.field != "" && !covers(d.field, path) {
		return
	}
	if len(d.changes) == maxChanges {
		d.more++
		return
	}
	d.changes = append(d.changes, Change{path, cut(before, maxValue), cut(after, maxValue)})
}

// cut is a value as JSON; absent ones have none, and of large ones the size is kept.
func cut(value any, limit int) json.RawMessage {
	if value == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil || len(text) > limit {
		return fmt.Appendf(nil, `{"cut":%d}`, len(text))
	}
	return text
}

func (d *differ) values(path string, before, after any, depth int) {
	if d.field != "" && !covers(d.field, path) {
		return
	}
	old, isMap := before.(map[string]any)
	now, areMaps := after.(map[string]any)
	if areMaps && (isMap || before == nil && d.field != "") && depth < maxDepth {
		d.maps(path, old, now, depth+1)
		return
	}
	oldList, isList := before.([]any)
	nowList, areLists := after.([]any)
	if isList && areLists && depth < maxDepth {
		d.lists(path, oldList, nowList, depth+1)
		return
	}
	if !reflect.DeepEqual(before, after) {
		d.add(path, before, after)
	}
}

func (d *differ) maps(path string, before, after map[string]any, depth int) {
	keys := slices.Collect(maps.Keys(after))
	for key := range before {
		if _, ok := after[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		d.values(path+step(key), before[key], after[key], depth)
	}
}

var plain = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// step is a key in a path.
func step(key string) string {
	if plain.MatchString(key) {
		return "." + key
	}
	return "[" + strconv.Quote(key) + "]"
}

// lists compares lists whose elements have names by these, others by their places, or as a whole if their lengths
// differ.
func (d *differ) lists(path string, before, after []any, depth int) {
	for _, key := range []string{"type", "name", "key", "ip", "uid"} {
		old, known := byKey(before, key)
		now, knownNow := byKey(after, key)
		if !known || !knownNow {
			continue
		}
		names := slices.Collect(maps.Keys(now))
		for name := range old {
			if now[name] == nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			at := name
			if !plain.MatchString(name) {
				at = strconv.Quote(name)
			}
			d.values(path+"["+key+"="+at+"]", old[name], now[name], depth)
		}
		return
	}
	if len(before) != len(after) {
		d.add(path, before, after)
		return
	}
	for i := range after {
		d.values(path+"["+strconv.Itoa(i)+"]", before[i], after[i], depth)
	}
}

// byKey is false if not each element has a text of its own below the key.
func byKey(list []any, key string) (elements map[string]any, ok bool) {
	elements = map[string]any{}
	for _, e := range list {
		object, _ := e.(map[string]any)
		name, ok := object[key].(string)
		if _, twice := elements[name]; !ok || twice {
			return nil, false
		}
		elements[name] = e
	}
	return elements, true
}

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
	maxPath    = 1 << 10  // of a field, in bytes; what lies deeper is compared as a whole
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
	d.maps(nil, before, after, 0)
	return d.changes, d.more, nil
}

// clean drops what says nothing of its own.
func clean(object map[string]any) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	delete(meta, "resourceVersion")
	if annotations, ok := meta["annotations"].(map[string]any); ok && len(annotations) == 0 {
		delete(meta, "annotations")
	}
	if meta["creationTimestamp"] == nil { // as typed objects have it that lack their metadata
		delete(meta, "creationTimestamp")
	}
}

// place is where a field is.
type place struct {
	outer *place
	size  int    // of the path to it
	list  string // the key by which elements of a list are compared; empty: the field of an object
	key   string
}

// number is in place of the key of lists whose elements are compared by their places.
const number = "#"

func (p *place) step(list, key string) *place {
	size := len(list) + len(key) + len(`[""]`)
	if p != nil {
		size += p.size
	}
	return &place{p, size, list, key}
}

var plain = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// path is cut where it is too long.
func (p *place) path() string {
	if p == nil {
		return ""
	}
	key := p.key[:min(len(p.key), maxPath)]
	word := plain.MatchString(key)
	if !word && p.list != number {
		key = strconv.Quote(key)
	}
	switch outer := p.outer.path(); {
	case p.list == number, p.list == "" && !word:
		return outer + "[" + key + "]"
	case p.list != "":
		return outer + "[" + p.list + "=" + key + "]"
	default:
		return outer + "." + key
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

func (d *differ) add(at *place, before, after any) {
	if len(d.changes) == maxChanges {
		d.more++
		return
	}
	d.changes = append(d.changes, Change{at.path(), cut(before, maxValue), cut(after, maxValue)})
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

func (d *differ) values(at *place, before, after any, depth int) {
	if d.field != "" && !covers(d.field, at.path()) {
		return
	}
	if depth < maxDepth && at.size <= maxPath {
		old, isMap := before.(map[string]any)
		now, areMaps := after.(map[string]any)
		if areMaps && (isMap || before == nil && d.field != "") {
			d.maps(at, old, now, depth+1)
			return
		}
		oldList, isList := before.([]any)
		nowList, areLists := after.([]any)
		if isList && areLists {
			d.lists(at, oldList, nowList, depth+1)
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		d.add(at, before, after)
	}
}

func (d *differ) maps(at *place, before, after map[string]any, depth int) {
	for _, key := range both(before, after) {
		d.values(at.step("", key), before[key], after[key], depth)
	}
}

// both are the keys of both, in order.
func both(before, after map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(after)), maps.Keys(before))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// lists compares lists whose elements have names by these, others by their places, or as a whole if their lengths
// differ.
func (d *differ) lists(at *place, before, after []any, depth int) {
	for _, key := range []string{"type", "name", "key", "ip", "uid"} {
		old, known := byKey(before, key)
		now, knownNow := byKey(after, key)
		if !known || !knownNow {
			continue
		}
		for _, name := range both(old, now) {
			d.values(at.step(key, name), old[name], now[name], depth)
		}
		return
	}
	if len(before) != len(after) {
		d.add(at, before, after)
		return
	}
	for i := range after {
		d.values(at.step(number, strconv.Itoa(i)), before[i], after[i], depth)
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

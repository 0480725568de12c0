package rehearsal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// leavesOf are the values of an object that hold no others, by their paths: spec.containers[app].image. An item of a
// list is named by what its type keys such lists with, if all items have it, and else by its index. Empty lists and
// objects are no values: what they mean is what their absence means.
func leavesOf(object map[string]any) map[string]any {
	leaves := map[string]any{}
	addLeaves(leaves, "", object)
	return leaves
}

func addLeaves(leaves map[string]any, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			addLeaves(leaves, join(path, name), field)
		}
	case []any:
		names := keysOf(value)
		for i, item := range value {
			addLeaves(leaves, path+"["+names[i]+"]", item)
		}
	case nil:
	default:
		leaves[path] = value
	}
}

// join is the path of a field. Names that look like paths are quoted.
func join(path, name string) string {
	if strings.ContainsAny(name, "./[]") {
		return path + "[" + name + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// listKeys are the fields by which Kubernetes and operators key their lists, the best first.
var listKeys = []string{"type", "name", "key", "containerPort", "port", "uid", "ip"}

// keysOf names the items of a list.
func keysOf(list []any) []string {
	for _, key := range listKeys {
		if names := keyed(list, key); names != nil {
			return names
		}
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// keyed are the values of a field in all items of a list; nil if one lacks it, or two have the same.
func keyed(list []any, key string) (names []string) {
	for _, item := range list {
		fields, _ := item.(map[string]any)
		value, ok := fields[key]
		name := fmt.Sprint(value)
		if !ok || slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// equal reports whether two values mean the same: 1 and 1.0, "1000m" and "1", "60s" and "1m".
func equal(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, y := text(a), text(b)
	if x == y {
		return true
	}
	if quantity().MatchString(x) && quantity().MatchString(y) {
		p, err := resource.ParseQuantity(x)
		q, other := resource.ParseQuantity(y)
		return err == nil && other == nil && p.Cmp(q) == 0 && (hasUnit(x) || hasUnit(y))
	}
	p, err := time.ParseDuration(x)
	q, other := time.ParseDuration(y)
	return err == nil && other == nil && p == q
}

// quantity matches amounts, but none with an exponent: comparing these may take any time.
var quantity = lazy.Regexp(`^[0-9]{1,15}(\.[0-9]{1,9})?(n|u|m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$`)

// hasUnit reports whether an amount ends with a unit. Without one it may be a version: "1.10" is not "1.1".
func hasUnit(amount string) bool { return strings.ContainsAny(amount, "numkMGTP") }

// text is a value as JSON has it, and a string as it is.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	encoded, err := json.Marshal(value)
	if err != nil { // it came as JSON
		return fmt.Sprint(value)
	}
	return string(encoded)
}

// isZero reports whether a value is one that types omit, or absent.
func isZero(value any) bool {
	return value == nil || reflect.ValueOf(value).IsZero()
}

// isTime reports whether a value is a moment.
func isTime(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

// A change is a field that differs between two forms of an object. A value is nil if the field is not there.
type change struct {
	path          string
	before, after any
}

// lost reports whether the field is gone.
func (c change) lost() bool { return c.after == nil }

// changesBetween are the fields that one form of an object has and another lacks or has otherwise, in order. Fields
// that come anew are no change: defaults do.
func changesBetween(before, after map[string]any) (changes []change) {
	was, is := leavesOf(before), leavesOf(after)
	for path, value := range was {
		now, there := is[path]
		switch {
		case !there:
			changes = append(changes, change{path, value, nil})
		case !equal(value, now):
			changes = append(changes, change{path, value, now})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.path, b.path) })
	return changes
}

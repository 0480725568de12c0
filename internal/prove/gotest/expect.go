package gotest

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/prove"
)

// An expectation is what holds without the failure. Holds is a Go expression.
type expectation struct{ What, Holds string }

// mostExpectations bounds how many a test has: most follow from the first ones.
const mostExpectations = 20

// expect adds what a symptom shows to be wrong.
func (d *data) expect(s prove.Symptom) error {
	if s.Oracle == prove.Ended {
		return nil // a test fails by itself when its operator ends
	}
	if s.Oracle != prove.Diverged {
		return unwritable("the symptom %s", s.Oracle)
	}
	for _, difference := range s.Differences {
		if e, ok := d.expectation(difference); ok && len(d.Expectations) < mostExpectations {
			d.Expectations = append(d.Expectations, e)
		}
	}
	if len(d.Expectations) == 0 {
		return unwritable("differences in what the cluster draws at random")
	}
	return nil
}

// expectation is that a difference is none; ok is false if it is about what differs from run to run.
func (d *data) expectation(difference prove.Difference) (e expectation, ok bool) {
	object, ok := d.object(difference.Object)
	if !ok {
		return e, false
	}
	e.What = difference.String()
	if difference.Field == "" {
		d.Objects = true
		e.Holds = "exists(" + object + ")"
		if difference.Want == "" {
			e.Holds = "!" + e.Holds
		}
		return e, true
	}
	path, ok := segments(difference.Field)
	if !ok || drawn(difference.Want) {
		return e, false
	}
	d.Fields = true
	e.Holds = "field(" + object
	for _, name := range path {
		e.Holds += ", " + strconv.Quote(name)
	}
	e.Holds += fmt.Sprintf(") == %q", difference.Want)
	return e, true
}

// object is the text of what names the object of a difference, Kind NAMESPACE/NAME. Ok is false if its kind or its name
// is not known.
func (d *data) object(id string) (text string, ok bool) {
	kind, name, _ := strings.Cut(id, " ")
	if strings.Contains(name, "*") {
		return "", false
	}
	o := &unstructured.Unstructured{}
	for of, place := range d.Kinds {
		if of.Kind != kind {
			continue
		}
		if o.GetKind() != "" {
			return "", false // of several groups
		}
		o.SetGroupVersionKind(of.WithVersion(place.Version))
	}
	namespace, own, namespaced := strings.Cut(name, "/")
	if !namespaced {
		namespace, own = "", name
	}
	o.SetNamespace(namespace)
	o.SetName(own)
	return d.identity(o.Object), o.GetKind() != ""
}

// drawn reports whether a value of a state stands for one that differs from run to run, or for a whole object or list.
func drawn(value string) bool {
	return strings.HasPrefix(value, "(") || strings.ContainsAny(value, "*{[") || strings.Contains(value, "uid of ") ||
		strings.Contains(value, "hidden:") || value == "current" || value == "old"
}

// segments are the names on the way to a field; ok is false if an item of a list has no name.
func segments(path string) (names []string, ok bool) {
	for path != "" {
		switch {
		case strings.HasPrefix(path, "["):
			name, rest, closed := strings.Cut(path[1:], "]")
			if _, number := strconv.Atoi(name); !closed || number == nil {
				return nil, false
			}
			names, path = append(names, name), strings.TrimPrefix(rest, ".")
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				return append(names, path), true
			}
			names, path = append(names, path[:end]), strings.TrimPrefix(path[end:], ".")
		}
	}
	return names, len(names) > 0
}

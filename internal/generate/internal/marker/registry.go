package marker

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/internal/generate/edition"
)

// Registry is the set of markers that a run knows. They do not change.
type Registry struct {
	byTarget [Field + 1]map[string]*Definition
	names    []string          // for did-you-mean, sorted
	later    map[string]string // markers that only a later version knows, with the version

	parsers *sync.Pool // of *parser: each has a buffer of a kilobyte, and code has thousands of markers
}

// NewRegistry makes a registry from definitions. It fails, naming all offenders,
// for a definition that was not made by [Define], has a type that no argument
// can have, or is there twice for one target.
func NewRegistry(definitions ...Definition) (*Registry, error) {
	r := &Registry{parsers: &sync.Pool{New: func() any { return new(parser) }}}
	for t := range r.byTarget {
		r.byTarget[t] = make(map[string]*Definition)
	}
	var errs []error
	for _, d := range definitions {
		if err := d.validate(); err != nil {
			errs = append(errs, err)
			continue
		}
		if r.byTarget[d.Target][d.Name] != nil {
			errs = append(errs, fmt.Errorf("marker %q is defined twice for a %s", d.Name, d.Target))
		}
		r.byTarget[d.Target][d.Name] = &d
		r.names = append(r.names, d.Name)
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	return r, errors.Join(errs...)
}

// Reading returns a registry that behaves like r but reads values as an edition of controller-gen does.
func (r *Registry) Reading(syntax edition.Syntax) *Registry {
	other := *r
	other.parsers = &sync.Pool{New: func() any { return &parser{syntax: syntax} }}
	return &other
}

// Later returns a registry that behaves like r and knows which markers only a later version of controller-gen knows.
func (r *Registry) Later(names map[string]string) *Registry {
	other := *r
	other.later = names
	return &other
}

// AlsoKnown returns a registry that behaves like r but does not take the given
// names for misspelt: markers of generators that do not run now.
func (r *Registry) AlsoKnown(names ...string) *Registry {
	other := *r
	other.names = slices.Concat(r.names, names)
	slices.Sort(other.names)
	other.names = slices.Compact(other.names)
	return &other
}

// Lookup returns the definition that a marker means on target, or nil. The full
// name wins over the name without its last part.
func (r *Registry) Lookup(c Comment, target Target) *Definition {
	named, nameless, _ := split(c.Text)
	if d := r.byTarget[target][nameless]; d != nil {
		return d
	}
	return r.byTarget[target][named]
}

// knows reports whether the marker's name is known on any target.
func (r *Registry) knows(c Comment) bool {
	named, nameless, _ := split(c.Text)
	for _, name := range []string{nameless, named} {
		if _, found := slices.BinarySearch(r.names, name); found {
			return true
		}
	}
	return false
}

// Package edition is what differs between the versions of controller-gen that this generator stands in for, as one
// table of values.
//
// [For] makes the edition of a version. A generator asks an edition for values only, never for its version: so a new
// version of controller-gen is one more row of the table, and the golden files of the rows say what it changes.
//
// The source of each row is the change of sigs.k8s.io/controller-tools that it names. Versions are compared as they are
// installed, by `go install sigs.k8s.io/controller-tools/cmd/controller-gen@VERSION`: its go.mod then decides whether
// go/types knows aliases.
package edition

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// Oldest and Newest are the first and the last version of controller-gen with an edition of its own.
const (
	Oldest = "v0.14.0"
	Newest = "v0.23.0"
)

// Edition is what one version of controller-gen makes of code, where versions differ.
type Edition struct {
	Version  string
	Syntax   Syntax
	Types    Types
	Schemas  Schemas
	Roles    Roles
	Webhooks Webhooks
	Copies   Copies
	Apply    Apply

	later map[Word]string // what this version does not know, with the version that does
}

// A Word is a marker, one of its arguments, a generator or one of its options.
type Word struct {
	Name     string // of the marker or the generator; a * at the end stands for any rest
	Target   string // what the marker stands at; "" for all that it can
	Argument string // "" for the marker itself
}

// Later returns the first version that knows a word, or "" if this one does.
func (e Edition) Later(w Word) string {
	for known, since := range e.later {
		if known.matches(w) {
			return since
		}
	}
	return ""
}

func (w Word) matches(other Word) bool {
	prefix, open := strings.CutSuffix(w.Name, "*")
	return w.Argument == other.Argument && (w.Target == "" || w.Target == other.Target) &&
		(w.Name == other.Name || open && strings.HasPrefix(other.Name, prefix))
}

// Range says where a version lies with respect to those that have an edition.
type Range int

// The ranges.
const (
	Within Range = iota
	Before
	After
	Unknown // it is not a semantic version
)

// RangeOf returns where a version lies. Pre-releases and pseudo-versions lie where their numbers do.
func RangeOf(version string) Range {
	switch {
	case !semver.IsValid(version):
		return Unknown
	case semver.Compare(numbers(version), Oldest) < 0:
		return Before
	case semver.Compare(numbers(version), Newest) > 0:
		return After
	}
	return Within
}

// numbers is a version without what stands behind its numbers.
func numbers(version string) string {
	return strings.TrimSuffix(semver.Canonical(version), semver.Prerelease(version))
}

// For returns the edition of a version. One that is too old gets that of [Oldest], and one that is too new, or none,
// that of [Newest].
func For(version string) Edition {
	e := first()
	e.Version = cmp.Or(version, Newest)
	until := Newest
	switch RangeOf(version) {
	case Within:
		until = numbers(version)
	case Before:
		until = Oldest
	}
	for _, c := range table {
		if semver.Compare(c.since, until) > 0 {
			for _, w := range c.words {
				e.later[w] = c.since
			}
			continue
		}
		if c.set != nil {
			c.set(&e)
		}
	}
	return e
}

// Patches returns the versions in the table, oldest first: each writes something that the one before it does not.
func Patches() []string {
	versions := []string{Oldest}
	for _, c := range table {
		if !slices.Contains(versions, c.since) {
			versions = append(versions, c.since)
		}
	}
	semver.Sort(versions)
	return versions
}

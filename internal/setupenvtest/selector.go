package setupenvtest

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Selector says which versions will do. The zero value matches all.
type Selector struct {
	text   string // as the user wrote it
	op     string // "", ~, < or <=
	base   Version
	exact  bool // base has a patch number
	some   bool // there is a base; otherwise all match
	Latest bool // the newest that can be had, not the newest that is installed
	// Installed restricts the choice to what is in the store.
	Installed bool
}

var selectorSyntax = lazy.Regexp(`^(~|<=|<)?` + number + `\.` + number + `(?:\.(0|[1-9]\d{0,8}|x|\*))?(!)?$`)

// ParseSelector reads a version selector: X.Y.Z; X.Y, X.Y.x or X.Y.* for any patch; ~X.Y.Z for that patch or a later
// one; <X.Y.Z and <=X.Y.Z; a ! at the end for the newest that can be had. Empty or latest is the newest of all,
// latest-on-disk the newest that is installed.
func ParseSelector(text string) (Selector, error) {
	switch text {
	case "", "latest":
		return Selector{text: "latest", Latest: true}, nil
	case "latest-on-disk":
		return Selector{text: text, Installed: true}, nil
	}
	m := selectorSyntax().FindStringSubmatch(text)
	if m == nil {
		return Selector{}, &report.Error{What: "not a version selector", Where: text,
			Hint: "1.37.1, 1.37, 1.37.x, ~1.37.0, <1.37, <=1.37.1, each with ! at its end for the newest; or latest, latest-on-disk"}
	}
	s := Selector{text: text, op: m[1], some: true, Latest: m[5] != ""}
	s.base = Version{Major: atoi(m[2]), Minor: atoi(m[3])}
	if strings.Trim(m[4], "x*") != "" {
		s.base.Patch, s.exact = atoi(m[4]), true
	}
	return s, nil
}

// String is the selector as it was written.
func (s Selector) String() string { return s.text }

// Matches reports whether v will do.
func (s Selector) Matches(v Version) bool {
	if !s.some {
		return true
	}
	sameMinor := v.Major == s.base.Major && v.Minor == s.base.Minor
	switch s.op {
	case "~":
		return sameMinor && v.Patch >= s.base.Patch
	case "<", "<=":
		if sameMinor && !s.exact {
			return s.op == "<="
		}
		order := v.Compare(s.base)
		return order < 0 || order == 0 && s.op == "<="
	}
	return sameMinor && (!s.exact || v.Patch == s.base.Patch)
}

// Concrete is the only version that matches, if there is just one.
func (s Selector) Concrete() (Version, bool) {
	return s.base, s.some && s.exact && s.op == ""
}

// standIn tells whether the embedded version, own, may be taken in place of what is asked for: a version at
// most [Skew] minors older, or another patch of the same.
func (s Selector) standIn(own Version) bool {
	for minor := own.Minor - Skew; minor <= own.Minor; minor++ {
		if s.admitsMinor(Version{Major: own.Major, Minor: minor}) {
			return true
		}
	}
	return false
}

// admitsMinor tells whether a patch of v's minor version matches, released or not.
func (s Selector) admitsMinor(v Version) bool {
	if s.op == "<" || s.op == "<=" || !s.some {
		return s.Matches(v)
	}
	return s.base.Major == v.Major && s.base.Minor == v.Minor
}

// window names the versions that the embedded one stands in for.
func window(own Version) string {
	return fmt.Sprintf("%d.%d to %d.%d", own.Major, own.Minor-Skew, own.Major, own.Minor)
}

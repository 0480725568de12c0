package generate

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate/edition"
	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
)

// Oldest and Newest are the first and the last version of controller-gen whose files are written.
const (
	Oldest = edition.Oldest
	Newest = edition.Newest
)

// Supports returns an error for a version of controller-gen whose files are not written, since it is too old; where
// names it, and next is a command that generates the files of [Oldest]. Versions after [Newest] are written as that one
// writes them: later reports them.
func Supports(version, where, next string) (later bool, err error) {
	switch edition.RangeOf(version) {
	case edition.Before:
		return false, &report.Error{What: "controller-gen " + version + " is older than " + Oldest + ", the first version whose files slipway writes", Where: where,
			Hint: "pin " + Oldest + " or later; or have the files of another version for once", Next: next}
	case edition.After:
		return true, nil
	}
	return false, nil
}

// Knows reports whether a version of controller-gen has a generator.
func Knows(version, generator string) bool {
	return edition.For(cmp.Or(version, Newest)).Later(edition.Word{Name: generator}) == ""
}

// in are the generators that an edition has, with the markers, arguments and options that it knows.
func in(e edition.Edition, all []Generator) []Generator {
	all = slices.DeleteFunc(all, func(g Generator) bool { return e.Later(edition.Word{Name: g.Name}) != "" })
	for i, g := range all {
		all[i].Options = knownTo(e, g.Options)
		all[i].Markers = nil
		for _, d := range g.Markers {
			if e.Later(edition.Word{Name: d.Name, Target: d.Target.String()}) == "" {
				all[i].Markers = append(all[i].Markers, knownTo(e, d))
			}
		}
	}
	return all
}

// knownTo is a definition as an edition has it.
func knownTo(e edition.Edition, d marker.Definition) marker.Definition {
	d = d.Without(func(argument string) string { return e.Later(edition.Word{Name: d.Name, Argument: argument}) })
	if e.Syntax.Groups && d.Name == source.GroupName {
		d = d.Needed()
	}
	if last := d.Name[strings.LastIndexByte(d.Name, ':')+1:]; e.Syntax.Plain && slices.Contains(bounds, last) {
		d = d.Plain()
	}
	return d
}

// bounds are the last parts of the markers that may read their numbers themselves.
var bounds = []string{"Maximum", "Minimum", "MaxItems"}

// laterMarkersOf are the names of markers that an edition does not know on some target, with the first version that
// does.
func laterMarkersOf(e edition.Edition, all []Generator) map[string]string {
	later := make(map[string]string)
	for _, g := range all {
		for _, d := range g.Markers {
			since := e.Later(edition.Word{Name: d.Name, Target: d.Target.String()})
			if first := later[d.Name]; since != "" && (first == "" || semver.Compare(since, first) < 0) {
				later[d.Name] = since
			}
		}
	}
	return later
}

package kubebuilderchart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// instead is what to use in place of a value that the new chart does not have. If it is a command that enables a
// feature, the chart made afterwards has the value.
func (p place) instead() string {
	switch {
	case p.elsewhere == "":
		return "config"
	case !strings.HasPrefix(p.elsewhere, "slipway "):
		return p.elsewhere
	case p.elsewhere == places["rbac.namespaced"].elsewhere:
		return p.elsewhere + ", then slipway helm"
	}
	return p.elsewhere + ", then slipway helm, which adds " + p.to
}

// placed reports whether the new values have a place.
func (m *merger) placed(p place) bool {
	_, there := m.into.Get(p.to)
	return there
}

// rename records that a value has another name.
func (m *merger) rename(path string, p place) {
	if p.to != path {
		m.renamed = append(m.renamed, path+" is "+p.to)
	}
}

// noCounterpart records a value that the new chart does not have. If the value is the default of the plug-in or the
// project, only a release that sets another one loses something.
func (m *merger) noCounterpart(path string, p place, literal any) {
	switch {
	case m.needed(path) && !m.wasRead(path): // templates that read it stay
	case empty(literal), p.pluginDefault != nil && fmt.Sprint(p.pluginDefault) == fmt.Sprint(literal), m.follows(path[strings.LastIndex(path, ".")+1:], literal):
		m.lost[p.instead()] = append(m.lost[p.instead()], path)
	default:
		m.notes = append(m.notes, path+" has no value here and is left out: use "+p.instead())
	}
}

// unset records the plug-in's values that its templates read and the former values.yaml does not set: a release may set
// them.
func (m *merger) unset() {
	for _, path := range slices.Sorted(maps.Keys(places)) {
		switch p, _ := placeOf(path); {
		case m.seen[path] || !m.wasRead(path):
		case m.placed(p):
			m.rename(path, p)
		default:
			m.noCounterpart(path, p, nil)
		}
	}
}

// wasRead reports whether a removed template reads a value, one below it, or its group. Groups at the top do not count:
// templates only test whether they have a key.
func (m *merger) wasRead(path string) bool {
	group := path[:max(0, strings.LastIndex(path, "."))]
	return slices.ContainsFunc(m.gone, func(read string) bool {
		return read == path || strings.HasPrefix(read, path+".") || read == group && strings.Contains(group, ".")
	})
}

// lists returns the notes on renamed values, and on values without a counterpart.
func (m *merger) lists() (notes []string) {
	if len(m.renamed) > 0 {
		slices.Sort(m.renamed)
		notes = append(notes, "values with other names: "+strings.Join(slices.Compact(m.renamed), ", "))
	}
	var lines []string
	for instead, paths := range m.lost {
		slices.Sort(paths)
		lines = append(lines, "\n  "+strings.Join(slices.Compact(paths), ", ")+": "+instead)
	}
	if len(lines) > 0 {
		slices.Sort(lines)
		notes = append(notes, "values without a counterpart, which a release that sets them loses, and what to use instead:"+strings.Join(lines, ""))
	}
	return notes
}

// follows reports whether the project's configuration contains all of a value.
func (m *merger) follows(key string, literal any) bool {
	switch v := literal.(type) {
	case map[string]any:
		for key, inner := range v {
			if !m.follows(key, inner) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !m.follows("", item) })
	}
	line := fmt.Sprint(literal)
	if key != "" {
		line = key + ": " + line
	}
	return m.chart.words.lines[m.chart.words.plain(line)]
}

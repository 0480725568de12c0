// Package threeway merges two changed forms of a text: the user's, and one that was generated anew.
//
//	merged, conflicts := threeway.Merge(base, mine, generated, threeway.Ask)
//
// Both come from the base. A change of one side is taken, and so is one that both made. Lines that both changed
// differently are a conflict, unless one side is preferred. Changes of adjacent lines are no conflict: lines of
// configuration are independent.
package threeway

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

// A Preference decides which change is taken if both sides changed the same lines.
type Preference int

const (
	Ask       Preference = iota // none: report a conflict
	Mine                        // the user's
	Generated                   // the generated text's
)

// A Conflict is a place that both sides changed differently.
type Conflict struct {
	Line            int // in the user's text, from 1
	Mine, Generated []string
}

// Merge merges the changes of both sides. In a conflict, merged has the user's lines.
func Merge(base, mine, generated []byte, prefer Preference) (merged []byte, conflicts []Conflict) {
	m := &merger{base: lines.Split(base), prefer: prefer}
	m.merge(changes(m.base, mine), changes(m.base, generated))
	return lines.Join(m.merged), m.conflicts
}

// A change replaces the base's lines from start to before end.
type change struct {
	start, end int
	with       []string
}

func changes(base []string, text []byte) []change {
	var all []change
	for _, c := range lines.Changes(base, lines.Split(text)) {
		all = append(all, change{c.Start, c.End, c.With})
	}
	return all
}

// overlaps reports whether two changes affect the same lines, or insert at the same place.
func (c change) overlaps(d change) bool {
	switch {
	case c.start == c.end && d.start == d.end:
		return c.start == d.start
	case c.start == c.end:
		return d.start < c.start && c.start < d.end
	case d.start == d.end:
		return c.start < d.start && d.start < c.end
	}
	return c.start < d.end && d.start < c.end
}

// before orders changes by their start, insertions first.
func (c change) before(d change) bool {
	return c.start < d.start || c.start == d.start && c.end <= d.end
}

// merger merges the changes from the start to the end of the base.
type merger struct {
	base      []string
	prefer    Preference
	at        int // the next line of the base
	shift     int // how many lines the user's text has more up to there
	merged    []string
	conflicts []Conflict
}

func (m *merger) merge(mine, generated []change) {
	for len(mine) > 0 || len(generated) > 0 {
		var ours, theirs []change
		ours, theirs, mine, generated = cluster(mine, generated)
		m.take(ours, theirs)
	}
	m.merged = append(m.merged, m.base[m.at:]...)
}

// cluster splits off the first change, with all that overlap it directly or through others.
func cluster(mine, generated []change) (ours, theirs, restMine, restGenerated []change) {
	if len(mine) > 0 && (len(generated) == 0 || mine[0].before(generated[0])) {
		ours, mine = mine[:1], mine[1:]
	} else {
		theirs, generated = generated[:1], generated[1:]
	}
	for {
		switch {
		case len(mine) > 0 && slices.ContainsFunc(theirs, mine[0].overlaps):
			ours, mine = append(slices.Clip(ours), mine[0]), mine[1:]
		case len(generated) > 0 && slices.ContainsFunc(ours, generated[0].overlaps):
			theirs, generated = append(slices.Clip(theirs), generated[0]), generated[1:]
		default:
			return ours, theirs, mine, generated
		}
	}
}

func (m *merger) take(ours, theirs []change) {
	all := slices.Concat(ours, theirs)
	start, end := all[0].start, all[0].end
	for _, c := range all {
		start, end = min(start, c.start), max(end, c.end)
	}
	m.merged = append(m.merged, m.base[m.at:start]...)
	m.at = end
	mine, generated := m.apply(ours, start, end), m.apply(theirs, start, end)
	line := start + m.shift + 1
	m.shift += len(mine) - (end - start)
	switch {
	case len(theirs) == 0:
		m.merged = append(m.merged, mine...)
	case len(ours) == 0 || slices.Equal(mine, generated):
		m.merged = append(m.merged, generated...)
	default:
		m.both(line, m.base[start:end], mine, generated)
	}
}

// apply applies changes to the lines of the base from start to before end.
func (m *merger) apply(changes []change, start, end int) []string {
	var out []string
	for _, c := range changes {
		out = append(out, m.base[start:c.start]...)
		out = append(out, c.with...)
		start = c.end
	}
	return append(out, m.base[start:end]...)
}

// both merges lines that both sides changed: line by line, if neither changed their number.
func (m *merger) both(line int, base, mine, generated []string) {
	if len(base) != len(mine) || len(base) != len(generated) {
		m.merged = append(m.merged, m.choose(line, mine, generated)...)
		return
	}
	for i := 0; i < len(base); {
		if mine[i] == base[i] || mine[i] == generated[i] {
			m.merged = append(m.merged, generated[i])
			i++
			continue
		}
		if generated[i] == base[i] {
			m.merged = append(m.merged, mine[i])
			i++
			continue
		}
		end := i + 1
		for end < len(base) && mine[end] != base[end] && generated[end] != base[end] && mine[end] != generated[end] {
			end++
		}
		m.merged = append(m.merged, m.choose(line+i, mine[i:end], generated[i:end])...)
		i = end
	}
}

// choose returns the lines of the preferred side. It records a conflict if none is preferred.
func (m *merger) choose(line int, mine, generated []string) []string {
	switch m.prefer {
	case Generated:
		return generated
	case Ask:
		m.conflicts = append(m.conflicts, Conflict{Line: line, Mine: mine, Generated: generated})
	}
	return mine
}

package base

import (
	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

// tagged are the lines of the file's new content.
func (f *file) tagged(path string, content []byte) []line {
	var before []string
	taken := map[string]bool{}
	for _, l := range f.lines {
		before = append(before, l.text)
		taken[l.tag] = true
	}
	var out []line
	at := 0
	changes := lines.Changes(before, lines.Split(content))
	for i, c := range changes {
		until := len(before)
		if i < len(changes)-1 {
			until = changes[i+1].Start
		}
		c = f.slide(c, at, until)
		out = append(out, f.lines[at:c.Start]...)
		tag := newName(taken, tagLength, append([]string{path}, c.With...)...)
		for _, text := range c.With {
			out = append(out, line{tag, text})
		}
		at = c.End
	}
	return append(out, f.lines[at:]...)
}

// slide chooses between the places at which taking lines out gives the same text, such as of two closing braces: what
// came together goes together, so that taking out undoes putting in. The place lies within the given lines.
func (f *file) slide(c lines.Change, from, until int) lines.Change {
	if len(c.With) > 0 {
		return c
	}
	for c.Start > from && f.lines[c.Start-1].text == f.lines[c.End-1].text {
		c.Start, c.End = c.Start-1, c.End-1
	}
	best, least := c, f.cuts(c)
	for c.End < until && f.lines[c.Start].text == f.lines[c.End].text {
		c.Start, c.End = c.Start+1, c.End+1
		if n := f.cuts(c); n <= least {
			best, least = c, n
		}
	}
	return best
}

// cuts is how many lines with one tag a change separates, at its ends, and how many with different tags it takes out
// together.
func (f *file) cuts(c lines.Change) int {
	n := 0
	for i := max(c.Start, 1); i <= min(c.End, len(f.lines)-1); i++ {
		together := f.lines[i-1].tag == f.lines[i].tag
		if end := i == c.Start || i == c.End; together == end {
			n++
		}
	}
	return n
}

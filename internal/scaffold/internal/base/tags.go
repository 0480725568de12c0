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
	if len(taken) > mostTags/2 {
		return (&file{}).tagged(path, content) // as if it were new
	}
	var out []line
	at := 0
	changes, cuts := lines.Changes(before, lines.Split(content)), f.cuts()
	for i, c := range changes {
		until := len(before)
		if i < len(changes)-1 {
			until = changes[i+1].Start
		}
		c = f.slide(c, at, until, cuts)
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
func (f *file) slide(c lines.Change, from, until int, cuts func(lines.Change) int) lines.Change {
	if len(c.With) > 0 {
		return c
	}
	for c.Start > from && f.lines[c.Start-1].text == f.lines[c.End-1].text {
		c.Start, c.End = c.Start-1, c.End-1
	}
	best, least := c, cuts(c)
	for c.End < until && f.lines[c.Start].text == f.lines[c.End].text {
		c.Start, c.End = c.Start+1, c.End+1
		if n := cuts(c); n <= least {
			best, least = c, n
		}
	}
	return best
}

// cuts counts for a change how many lines with one tag it separates, at its ends, and how many with different tags it
// takes out together. It looks at no line a second time: a change may slide along all of them.
func (f *file) cuts() func(lines.Change) int {
	changing := make([]int, len(f.lines)+1) // in how many of the lines before it a line has another tag than the one above
	for i := 1; i < len(f.lines); i++ {
		changing[i+1] = changing[i]
		if f.lines[i-1].tag != f.lines[i].tag {
			changing[i+1]++
		}
	}
	end := func(i int) int {
		if i > 0 && i < len(f.lines) && f.lines[i-1].tag == f.lines[i].tag {
			return 1
		}
		return 0
	}
	return func(c lines.Change) int { return end(c.Start) + end(c.End) + changing[c.End] - changing[c.Start+1] }
}

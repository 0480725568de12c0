package base

import (
	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

// tagged returns the lines of the file's new content. Lines that stay keep their tags.
func (f *file) tagged(path string, content []byte) []line {
	var before []string
	taken := map[string]bool{}
	for _, l := range f.lines {
		before = append(before, l.text)
		taken[l.tag] = true
	}
	if len(taken) > mostTags/2 {
		return (&file{}).tagged(path, content) // discards all old tags
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

// slide moves a deletion to the position that gives the same text and separates the fewest lines of one tag. Of two
// equal closing braces, for example, the one inserted with the other deleted lines goes, so that deleting reverts
// inserting. The position stays between from and until.
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

// cuts returns a function that rates a deletion: the pairs of lines with one tag that it separates at its ends, and the
// changes of tag inside it. It precomputes sums, since a deletion may slide along the whole file.
func (f *file) cuts() func(lines.Change) int {
	changing := make([]int, len(f.lines)+1) // at i: how many of the lines before i have another tag than the line above
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

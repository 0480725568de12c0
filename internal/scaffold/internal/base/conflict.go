package base

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

// The lines that git marks a conflict with.
const (
	ours     = "<<<<<<<"
	ancestor = "|||||||"
	theirs   = "======="
	end      = ">>>>>>>"
)

// Why a conflict cannot be settled.
var (
	errOpen = errors.New("a merge conflict begins here but has no end")
	errMark = errors.New("it ends a merge conflict that has no beginning")
	errVast = fmt.Errorf("with it more than %d lines come from merges: too many to compare", mostMerged)
)

// mostMerged bounds the lines that are compared because a merge has left both sides: comparing takes time in proportion
// to the square of what differs.
const mostMerged = 1 << 17

// marks reports whether a row is one of git's marks.
func (r row) marks(mark string) bool { return r.text == mark || strings.HasPrefix(r.text, mark+" ") }

// A merging takes both sides of what merges have left.
type merging struct{ compared int } // lines

// admit counts lines that are to be compared.
func (m *merging) admit(lines, number int) error {
	if m.compared += lines; m.compared > mostMerged {
		return &SyntaxError{number, errVast}
	}
	return nil
}

// settle takes both sides of each conflict that a merge has left.
func (m *merging) settle(rows []row) ([]row, error) {
	var out []row
	for i := 0; i < len(rows); i++ {
		switch r := rows[i]; {
		case r.marks(ours):
			sides, length := conflict(rows[i:])
			if length == 0 {
				return nil, &SyntaxError{r.number, errOpen}
			}
			if err := m.admit(length, r.number); err != nil {
				return nil, err
			}
			out = append(out, union(sides[0], sides[1], func(r row) string { return r.text })...)
			i += length - 1
		case r.marks(ancestor), r.marks(theirs), r.marks(end):
			return nil, &SyntaxError{r.number, errMark}
		default:
			out = append(out, r)
		}
	}
	return out, nil
}

// conflict are the sides of the conflict that begins with the first row, and how many rows it has; 0 if it has no end.
func conflict(rows []row) (sides [2][]row, length int) {
	side := &sides[0]
	for i, r := range rows[1:] {
		switch {
		case r.marks(ancestor):
			side = new([]row) // what both sides come from is on each that has kept it
		case r.marks(theirs):
			side = &sides[1]
		case r.marks(end):
			return sides, i + 2
		default:
			*side = append(*side, r)
		}
	}
	return sides, 0
}

// union has all that either side has. Both are in the order that they have there, and what both have is there once.
func union[T any](a, b []T, key func(T) string) []T {
	keys := func(side []T) []string {
		var all []string
		for _, t := range side {
			all = append(all, key(t))
		}
		return all
	}
	var out []T
	x, y := 0, 0
	for _, c := range lines.Changes(keys(a), keys(b)) {
		out = append(out, a[x:c.End]...)
		y += c.Start - x
		out = append(out, b[y:y+len(c.With)]...)
		x, y = c.End, y+len(c.With)
	}
	return append(out, a[x:]...)
}

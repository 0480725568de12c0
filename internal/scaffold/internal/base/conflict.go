package base

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

// The marks of a conflict in git.
const (
	ours     = "<<<<<<<"
	ancestor = "|||||||"
	theirs   = "======="
	end      = ">>>>>>>"
)

var (
	errOpen          = errors.New("a merge conflict begins here but has no end")
	errMark          = errors.New("it ends a merge conflict that has no beginning")
	errTooMuchMerged = fmt.Errorf("with it more than %d lines come from merges: too many to compare", mostMerged)
)

// mostMerged bounds the lines to compare after a merge: the time is quadratic in the number of differences.
const mostMerged = 1 << 17

// marks reports whether a row is this mark.
func (r row) marks(mark string) bool { return r.text == mark || strings.HasPrefix(r.text, mark+" ") }

// A merging resolves what merges left in the base by taking both sides.
type merging struct{ compared int } // lines

// admit counts lines to compare, and fails above [mostMerged].
func (m *merging) admit(lines, number int) error {
	if m.compared += lines; m.compared > mostMerged {
		return &SyntaxError{number, errTooMuchMerged}
	}
	return nil
}

// resolveConflicts replaces each conflict by both of its sides.
func (m *merging) resolveConflicts(rows []row) ([]row, error) {
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

// conflict returns the sides of the conflict that begins with the first row, and its number of rows; 0 if it has no
// end.
func conflict(rows []row) (sides [2][]row, length int) {
	side := &sides[0]
	for i, r := range rows[1:] {
		switch {
		case r.marks(ancestor):
			side = new([]row) // skipped: each side contains what it kept of this
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

// union returns all elements of both sides, in the order of each. Elements that both have appear once.
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

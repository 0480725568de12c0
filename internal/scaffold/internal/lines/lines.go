// Package lines compares texts line by line.
//
//	for _, change := range lines.Changes(lines.Split(before), lines.Split(after)) { … }
//
// Lines include their ends, so that [Join] of [Split] gives the same bytes.
package lines

import (
	"slices"
	"strings"
)

// maxDifference bounds the differences that are compared line by line. Beyond it, all that differs is one change:
// memory is quadratic in the number of differences.
const maxDifference = 2000

// Split returns the lines of a text, each with its end.
func Split(text []byte) []string {
	all := strings.SplitAfter(string(text), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// Join concatenates lines. A line without an end gets one, unless it is the last.
func Join(lines []string) []byte {
	var out strings.Builder
	for i, line := range lines {
		out.WriteString(line)
		if i < len(lines)-1 && !strings.HasSuffix(line, "\n") {
			out.WriteByte('\n')
		}
	}
	return []byte(out.String())
}

// A Change replaces the lines from Start to before End.
type Change struct {
	Start, End int
	With       []string
}

// Changes returns the changes that turn from into to, in order.
func Changes(from, to []string) []Change {
	start := 0
	for start < len(from) && start < len(to) && from[start] == to[start] {
		start++
	}
	end := 0
	for end < len(from)-start && end < len(to)-start && from[len(from)-1-end] == to[len(to)-1-end] {
		end++
	}
	a, b := from[start:len(from)-end], to[start:len(to)-end]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	var all []Change
	x, y := 0, 0
	for _, match := range append(common(a, b), [2]int{len(a), len(b)}) {
		if match[0] > x || match[1] > y {
			all = append(all, Change{start + x, start + match[0], b[y:match[1]]})
		}
		x, y = match[0]+1, match[1]+1
	}
	return all
}

// common returns the pairs of indices of a longest common subsequence, by Myers' algorithm ("An O(ND) Difference
// Algorithm and Its Variations", 1986). It returns nil beyond [maxDifference].
func common(a, b []string) [][2]int {
	var trace []frontier
	for d := 0; d <= min(len(a)+len(b), maxDifference); d++ {
		next := make(frontier, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x, _ = trace[d-1].step(k)
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			next[k+d] = x
			if x >= len(a) && x-k >= len(b) {
				return walk(append(trace, next), a, b)
			}
		}
		trace = append(trace, next)
	}
	return nil
}

// A frontier has, for one number of differences d, the farthest index in the first text on each diagonal. Diagonal k,
// on which the first text is k lines ahead, is at index k+d.
type frontier []int

// step returns the index on diagonal k after one more difference, and the diagonal that it comes from.
func (f frontier) step(k int) (x, from int) {
	d := len(f) / 2
	right, down := -1, -1 // delete a line of the first text, or insert one of the second
	if k-1 >= -d {
		right = f[k-1+d] + 1
	}
	if k+1 <= d {
		down = f[k+1+d]
	}
	if right > down {
		return right, k - 1
	}
	return down, k + 1
}

// walk traces back from the end of both texts, and collects the matches.
func walk(trace []frontier, a, b []string) [][2]int {
	var matches [][2]int
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		start, from := 0, 0
		if d > 0 {
			start, from = trace[d-1].step(x - y)
		}
		for x > start && y > 0 {
			x, y = x-1, y-1
			matches = append(matches, [2]int{x, y})
		}
		if d > 0 {
			x = trace[d-1][from+d-1]
			y = x - from
		}
	}
	slices.Reverse(matches)
	return matches
}

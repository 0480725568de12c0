// Package spelling reports how far a misspelt word is from those that could be meant,
// so that an error can name the likeliest.
package spelling

import "strings"

// Distance is the number of letters to insert, delete, change or swap with their
// neighbour to get from a to b; it stops counting above limit.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	var before []int
	last, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		if before == nil {
			before = make([]int, len(b)+1)
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Nearest returns the known word that is nearest to word and at most limit away, or nothing. Case does not count.
func Nearest(word string, known []string, limit int) string {
	nearest, least := "", limit+1
	for _, k := range known {
		if d := Distance(strings.ToLower(word), strings.ToLower(k), limit); d < least {
			nearest, least = k, d
		}
	}
	return nearest
}

package spelling_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/spelling"
)

func TestDistance(t *testing.T) {
	const limit = 3
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"deploy", "deploy", 0},
		{"deploy", "depoly", 1}, // two letters swapped
		{"deploy", "delpoy", 1},
		{"deploy", "deplo", 1},
		{"deploy", "deployy", 1},
		{"deploy", "dxploy", 1},
		{"ab", "ba", 1},
		{"abc", "cab", 2},
		{"", "abc", 3},
		{"kitten", "sitting", 3},
		{"abcd", "", limit + 1}, // by their lengths alone
	} {
		for _, words := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			if got := spelling.Distance(words[0], words[1], limit); got != test.want {
				t.Errorf("from %q to %q: %d, want %d", words[0], words[1], got, test.want)
			}
		}
	}
	if got := spelling.Distance("abcdef", "uvwxyz", limit); got <= limit {
		t.Errorf("words that have nothing in common are %d apart", got)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"deploy", "delete", "Deploys"}
	for _, test := range []struct {
		word  string
		limit int
		want  string
	}{
		{"depoly", 1, "deploy"}, {"DEPLOYS", 1, "Deploys"}, {"delet", 2, "delete"}, {"dxplxy", 1, ""}, {"dxplxy", 2, "deploy"}, {"", -1, ""},
	} {
		if got := spelling.Nearest(test.word, known, test.limit); got != test.want {
			t.Errorf("%q within %d: %q, want %q", test.word, test.limit, got, test.want)
		}
	}
}

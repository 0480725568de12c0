package lines_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

func TestSplitAndJoin(t *testing.T) {
	for text, want := range map[string][]string{
		"": {}, "\n": {"\n"}, "a": {"a"}, "a\n": {"a\n"}, "a\r\n\nb": {"a\r\n", "\n", "b"},
	} {
		split := lines.Split([]byte(text))
		if !slices.Equal(split, want) {
			t.Errorf("%q has the lines %q, want %q", text, split, want)
		}
		if joined := string(lines.Join(split)); joined != text {
			t.Errorf("%q is joined as %q", text, joined)
		}
	}
	if got := string(lines.Join([]string{"a", "b"})); got != "a\nb" {
		t.Errorf("a line without an end that is not the last one gives %q", got)
	}
}

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		from, to string // a line is a letter
		want     []lines.Change
	}{
		{"", "", nil},
		{"abc", "abc", nil},
		{"", "ab", []lines.Change{{0, 0, []string{"a", "b"}}}},
		{"ab", "", []lines.Change{{0, 2, []string{}}}},
		{"abc", "axc", []lines.Change{{1, 2, []string{"x"}}}},
		{"abc", "abxc", []lines.Change{{2, 2, []string{"x"}}}},
		{"abcde", "acdxe", []lines.Change{{1, 2, []string{}}, {4, 4, []string{"x"}}}},
		{"aab", "ab", []lines.Change{{1, 2, []string{}}}},
	} {
		if diff := cmp.Diff(test.want, lines.Changes(letters(test.from), letters(test.to))); diff != "" {
			t.Errorf("from %q to %q: %s", test.from, test.to, diff)
		}
	}
}

func letters(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ""), func(s string) bool { return s == "" })
}

// TestChangesLeadThere: the changes of random texts make one of the other, and no text with less to change has been
// missed.
func TestChangesLeadThere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []string {
		all := make([]string, random.IntN(12))
		for i := range all {
			all[i] = string(rune('a' + random.IntN(3)))
		}
		return all
	}
	for range 2000 {
		from, to := text(), text()
		var made []string
		at, changed := 0, 0
		for _, c := range lines.Changes(from, to) {
			made = append(append(made, from[at:c.Start]...), c.With...)
			at, changed = c.End, changed+c.End-c.Start+len(c.With)
		}
		made = append(made, from[at:]...)
		if !slices.Equal(made, to) {
			t.Fatalf("the changes from %v to %v lead to %v", from, to, made)
		}
		if least := len(from) + len(to) - 2*common(from, to); changed != least {
			t.Fatalf("from %v to %v %d lines change, want %d", from, to, changed, least)
		}
	}
}

// common is the length of a longest common subsequence, by its definition.
func common(a, b []string) int {
	switch {
	case len(a) == 0 || len(b) == 0:
		return 0
	case a[0] == b[0]:
		return 1 + common(a[1:], b[1:])
	}
	return max(common(a[1:], b), common(a, b[1:]))
}

// TestVeryDifferent: texts with too many differences are one change.
func TestVeryDifferent(t *testing.T) {
	from, to := slices.Repeat([]string{"a"}, 1500), slices.Repeat([]string{"b"}, 1500)
	if changes := lines.Changes(append(from, "c", "x"), append(to, "c", "y")); len(changes) != 1 || changes[0].End != 1502 {
		t.Errorf("there are %d changes", len(changes))
	}
}

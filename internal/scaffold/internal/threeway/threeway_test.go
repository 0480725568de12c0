package threeway

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

// text makes a text of words: a line each.
func text(words string) []byte {
	return []byte(strings.ReplaceAll(words, " ", "\n") + "\n")
}

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		base, mine, generated, want string
		conflicts                   []Conflict
	}{
		"one side each":          {"a b c d e", "a B c d e", "a b c D e", "a B c D e", nil},
		"beside each other":      {"a b c d", "a B c d", "a b C d", "a B C d", nil},
		"inserted and changed":   {"a b c", "a x b c", "a B c", "a x B c", nil},
		"changed and inserted":   {"a b c", "a B c", "a b x c", "a B x c", nil},
		"the same":               {"a b c", "a B c", "a B c", "a B c", nil},
		"same, and more":         {"a b c d", "a B c d", "a B c D", "a B c D", nil},
		"removed and changed":    {"a b c", "a c", "a B c", "a c", []Conflict{{2, nil, []string{"B\n"}}}},
		"removed, both":          {"a b c", "a c", "a c", "a c", nil},
		"both in their way":      {"a b c d", "x a B c d", "a BB c D", "x a B c D", []Conflict{{3, []string{"B\n"}, []string{"BB\n"}}}},
		"both insert":            {"a b", "a x b", "a y b", "a x b", []Conflict{{2, []string{"x\n"}, []string{"y\n"}}}},
		"crossing, line by line": {"a b c d", "a B C d", "a b Z D", "a B C D", []Conflict{{3, []string{"C\n"}, []string{"Z\n"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			merged, conflicts := Merge(text(c.base), text(c.mine), text(c.generated), Ask)
			if diff := cmp.Diff(string(text(c.want)), string(merged)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.conflicts, conflicts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPreference(t *testing.T) {
	base, mine, generated := text("a b c d"), text("A B c d"), text("a X c D")
	for prefer, want := range map[Preference]string{Mine: "A B c D", Generated: "A X c D"} {
		merged, conflicts := Merge(base, mine, generated, prefer)
		if string(merged) != string(text(want)) || len(conflicts) > 0 {
			t.Errorf("%d: %q, %v", prefer, merged, conflicts)
		}
	}
}

// TestLineEnds: what is added behind a last line without an end stands on a line of its own.
func TestLineEnds(t *testing.T) {
	merged, conflicts := Merge([]byte("a\nb"), []byte("x\na\nb"), []byte("a\nb\nc\n"), Ask)
	if string(merged) != "x\na\nb\nc\n" || len(conflicts) > 0 {
		t.Errorf("%q, %v", merged, conflicts)
	}
}

// TestVeryDifferent: texts that have little in common are compared too, as a whole.
func TestVeryDifferent(t *testing.T) {
	base := []byte(strings.Repeat("a\n", 6000))
	other := []byte(strings.Repeat("b\n", 6000))
	if merged, conflicts := Merge(base, base, other, Ask); !bytes.Equal(merged, other) || len(conflicts) > 0 {
		t.Error("a change of everything is lost")
	}
}

// FuzzMerge: one side's changes alone give that side's text, both sides meet the same conflicts, and these are where
// they are said to be.
func FuzzMerge(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nB\nc\n"), []byte("a\nb\nc\nd"))
	f.Add([]byte(""), []byte("\n\n"), []byte("x"))
	f.Fuzz(func(t *testing.T, base, mine, generated []byte) {
		if len(base)+len(mine)+len(generated) > 600 {
			t.Skip()
		}
		alone := func(name string, got []byte, conflicts []Conflict, want []byte) {
			if string(got) != string(want) || len(conflicts) > 0 {
				t.Errorf("%s: %q, want %q; %v", name, got, want, conflicts)
			}
		}
		merged, conflicts := Merge(base, mine, base, Ask)
		alone("mine alone", merged, conflicts, mine)
		merged, conflicts = Merge(base, base, generated, Ask)
		alone("generated alone", merged, conflicts, generated)
		merged, conflicts = Merge(base, mine, mine, Ask)
		alone("the same", merged, conflicts, mine)
		_, one := Merge(base, mine, generated, Ask)
		_, other := Merge(base, generated, mine, Ask)
		if len(one) != len(other) {
			t.Errorf("%d conflicts, and %d the other way round", len(one), len(other))
		}
		if _, conflicts := Merge(base, mine, generated, Mine); len(conflicts) > 0 {
			t.Error("a preference leaves conflicts")
		}
		all := lines.Split(mine)
		for _, c := range one {
			if c.Line < 1 || c.Line+len(c.Mine) > len(all)+1 || strings.Join(all[c.Line-1:c.Line-1+len(c.Mine)], "") != strings.Join(c.Mine, "") {
				t.Errorf("the conflict's line %d is not where %q is", c.Line, c.Mine)
			}
		}
	})
}

package base

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// merge has git merge two bases that come from a third one, in a way that git merge-file has an option for.
func merge(t *testing.T, how string, from, ours, theirs *Base) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, b := range map[string]*Base{"from": from, "ours": ours, "theirs": theirs} {
		data := b.Encode()
		if b.Empty() {
			data = nil // there was none
		}
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	cmd := exec.CommandContext(t.Context(), "git", "merge-file", "-p", how, "ours", "from", "theirs")
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() > 127) { // below, it is the number of conflicts
		t.Fatal(err)
	}
	return out
}

// ways are those in which git merges: with our attributes, and without them, by a host or in a project that has none,
// in each of its styles.
var ways = []string{"--union", "--quiet", "--diff3"}

// merged is what all ways of merging have to come to.
func merged(t *testing.T, from, ours, theirs *Base) map[string]string {
	t.Helper()
	var first map[string]string
	for _, how := range ways {
		b := parsed(t, merge(t, how, from, ours, theirs))
		if first == nil {
			first = texts(b)
		}
		if diff := cmp.Diff(first, texts(b)); diff != "" {
			t.Errorf("merged with %s instead: %s", how, diff)
		}
		if again := parsed(t, b.Encode()); again.Stale() { // marks are not written
			t.Errorf("written again as\n%s", b.Encode())
		}
	}
	return first
}

// changed is a copy of a base with these files.
func changed(t *testing.T, b *Base, pairs ...string) *Base {
	t.Helper()
	c := New()
	if !b.Empty() {
		c = parsed(t, b.Encode())
	}
	for i := 0; i < len(pairs); i += 2 {
		c.Set(pairs[i], []byte(pairs[i+1]))
	}
	return c
}

// less is a base without a file.
func less(b *Base, path string) *Base {
	b.Remove(path)
	return b
}

func TestMerge(t *testing.T) {
	main := of("main.go", "run {\n}\n// +here\n", "role", "none\n")
	list := changed(t, main, "list", "resources:\n# +here\n")
	for name, c := range map[string]struct {
		from, ours, theirs *Base
		want               map[string]string
	}{
		"two insertions at one place, whose last line is the same": {
			main, changed(t, main, "main.go", "run {\n}\na {\n}\n// +here\n"), changed(t, main, "main.go", "run {\n}\nb {\n}\n// +here\n"),
			map[string]string{"main.go": "run {\n}\na {\n}\nb {\n}\n// +here\n", "role": "none\n"},
		},
		"the same insertion": {
			main, changed(t, main, "main.go", "run {\n}\na {\n}\n// +here\n"), changed(t, main, "main.go", "run {\n}\na {\n}\n// +here\n"),
			map[string]string{"main.go": "run {\n}\na {\n}\n// +here\n", "role": "none\n"},
		},
		"new files beside each other": {
			main, changed(t, main, "n/a", "x\n}\n", "n/both", "same\n"), changed(t, main, "n/b", "x\n}\n", "n/both", "same\n"),
			map[string]string{"main.go": "run {\n}\n// +here\n", "role": "none\n", "n/a": "x\n}\n", "n/b": "x\n}\n", "n/both": "same\n"},
		},
		"a new list of both, with an item of each": {
			main, changed(t, list, "list", "resources:\n- a\n# +here\n"), changed(t, list, "list", "resources:\n- b\n# +here\n"),
			map[string]string{"main.go": "run {\n}\n// +here\n", "role": "none\n", "list": "resources:\n- a\n- b\n# +here\n"},
		},
		"a new file of both, with another text": {
			main, changed(t, main, "n", "a\nend\n"), changed(t, main, "n", "b\nend\n"),
			map[string]string{"main.go": "run {\n}\n// +here\n", "role": "none\n", "n": "a\nend\nb\nend\n"},
		},
		"without a last line end": {
			main, changed(t, main, "n", "a"), changed(t, main, "n", "b"),
			map[string]string{"main.go": "run {\n}\n// +here\n", "role": "none\n", "n": "a\nb"},
		},
		"a line taken out, and one put in elsewhere": {
			main, changed(t, main, "main.go", "run {\n}\n"), changed(t, main, "main.go", "top\nrun {\n}\n// +here\n"),
			map[string]string{"main.go": "top\nrun {\n}\n", "role": "none\n"},
		},
		"a line taken out, and one put in beside it": {
			main, changed(t, main, "main.go", "run {\n}\n"), changed(t, main, "main.go", "run {\n}\na\n// +here\n"),
			map[string]string{"main.go": "run {\n}\na\n// +here\n", "role": "none\n"},
		},
		"a file that went, and one that came": {
			list, less(changed(t, list), "list"), changed(t, list, "other", "x\n"),
			map[string]string{"main.go": "run {\n}\n// +here\n", "role": "none\n", "other": "x\n"},
		},
		"a file that went on one side and changed on the other": {
			list, less(changed(t, list), "list"), changed(t, list, "list", "resources:\n- a\n# +here\n"),
			map[string]string{"main.go": "run {\n}\n// +here\n", "role": "none\n", "list": "resources:\n- a\n# +here\n"},
		},
		"a base of both, where there was none": {
			New(), changed(t, list, "list", "resources:\n- a\n# +here\n"), changed(t, list, "list", "resources:\n- b\n# +here\n"),
			map[string]string{"main.go": "run {\n}\n// +here\n", "role": "none\n", "list": "resources:\n- a\n- b\n# +here\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, merged(t, c.from, c.ours, c.theirs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMergeRandomly: however two branches change the files, git's merge of them can be read, what one of them alone has
// done to a file is done, and what both have put in is there.
func TestMergeRandomly(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 2))
		from := New()
		for i := range 6 {
			from.Set(fmt.Sprintf("f%d", i), []byte(strings.Repeat("{\n}\n", 1+random.IntN(4))))
		}
		a, b := changed(t, from), changed(t, from)
		byA, byB := edit(random, a, "a"), edit(random, b, "b")
		for _, how := range ways {
			got := texts(parsed(t, merge(t, how, from, a, b)))
			for path := range maps.Keys(texts(from)) {
				if want := texts(a)[path]; !slices.Contains(byB, path) && got[path] != want {
					t.Errorf("seed %d, %s: %s is %q, want %q", seed, how, path, got[path], want)
				}
				if want := texts(b)[path]; !slices.Contains(byA, path) && got[path] != want {
					t.Errorf("seed %d, %s: %s is %q, want %q", seed, how, path, got[path], want)
				}
			}
			for path := range got {
				wantRuns(t, seed, how, a.files[path], got[path])
				wantRuns(t, seed, how, b.files[path], got[path])
			}
		}
	}
}

// edit changes files of a base at random and returns which ones.
func edit(random *rand.Rand, b *Base, who string) []string {
	var edited []string
	for i := range 4 {
		path := fmt.Sprintf("f%d", random.IntN(9))
		edited = append(edited, path)
		content, _ := b.File(path)
		lines := strings.SplitAfter(string(content), "\n")
		at := random.IntN(len(lines))
		switch random.IntN(4) {
		case 0:
			lines = append(lines[:at:at], lines[at+1:]...)
		default:
			lines = append(lines[:at:at], append([]string{fmt.Sprintf("%s%d {\n", who, i), "}\n"}, lines[at:]...)...)
		}
		b.Set(path, []byte(strings.Join(lines, "")))
	}
	return edited
}

// wantRuns fails unless lines that came together on one side are together in the merged text: braces are closed.
func wantRuns(t *testing.T, seed uint64, how string, side *file, got string) {
	t.Helper()
	if side == nil {
		return
	}
	for i, l := range side.lines[:max(len(side.lines)-1, 0)] {
		next := side.lines[i+1]
		if strings.ContainsAny(l.text, "ab") && l.tag == next.tag && !strings.Contains(got, l.text+next.text) {
			t.Errorf("seed %d, %s: %q and %q are not in %q", seed, how, l.text, next.text, got)
		}
	}
}

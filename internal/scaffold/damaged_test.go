package scaffold

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestDamagedProject: each verb says of each damage what it is, in which line, what is
// expected and what to type next, and changes nothing.
func TestDamagedProject(t *testing.T) {
	t.Parallel()
	p := newPrototype(t, true)
	good := contentsOf(p, "PROJECT")
	line := func(text string) int { return 1 + strings.Count(good[:strings.Index(good, text)], "\n") }
	tests := []struct {
		name, project, what string
		line                int
	}{
		{"empty", "", "is empty", 1},
		{"cut off", good[:strings.Index(good, "version: \"3\"")], "version", 0},
		{"cut off in a line", good[:strings.Index(good, "resources:")+5], "not valid YAML", 0},
		{"text for a truth value", strings.Replace(good, "controller: true", "controller: maybe", 1), "controller", line("controller: true")},
		{"list for a text", strings.Replace(good, "domain: example.com", "domain: [a, b]", 1), "domain is not a text", line("domain: example.com")},
		{"number for a list", strings.Replace(good, "\nresources:\n", "\nresources: 3\nother:\n", 1), "resources", line("resources:")},
		{"a key twice", strings.Replace(good, "projectName: op", "projectName: op\nprojectName: other", 1), "projectName appears twice", line("projectName: op") + 1},
		{"conflict", strings.Replace(good, "projectName: op\n", "<<<<<<< HEAD\nprojectName: op\n=======\nprojectName: other\n>>>>>>> theirs\n", 1), "conflict markers", line("projectName: op")},
		{"a group that cannot be", strings.Replace(good, "group: batch", "group: Batch!", 1), "group", line("group: batch")},
		{"a layout of another tool", strings.Replace(good, "go.kubebuilder.io/v4", "go.kubebuilder.io/v9", 1), "layout", line("go.kubebuilder.io/v4")},
		{"not YAML", "\x00\x01\x02", "not valid YAML", 1},
		{"a tab", strings.Replace(good, "  controller", "\tcontroller", 1), "not valid YAML", 0},
	}
	root := t.TempDir()
	write(t, root, p.tree)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.project == good {
				t.Fatal("the damage is none")
			}
			must(t, os.WriteFile(filepath.Join(root, "PROJECT"), []byte(test.project), 0o644))
			before := tree(t, root)
			for _, v := range verbs(p.options) {
				_, err := v.plan(root)
				checkDamage(t, err, test.what, test.line)
			}
			if diff := treeDiff(before, tree(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func contentsOf(p *prototype, name string) string {
	i := slices.IndexFunc(p.tree.Files, func(f txtar.File) bool { return f.Name == name })
	return string(p.tree.Files[i].Data)
}

func checkDamage(t *testing.T, err error, what string, line int) {
	t.Helper()
	refusal, ok := errors.AsType[*report.Error](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(refusal.What, what) || refusal.Hint == "" || refusal.Next == "" {
		t.Errorf("what is wrong, expected or next is missing: %+v", refusal)
	}
	where := "PROJECT:"
	if line > 0 {
		where = (report.Position{File: "PROJECT", Line: line}).String()
	}
	if !strings.HasPrefix(refusal.Where+":", where) {
		t.Errorf("the place is %q, want %q", refusal.Where, where)
	}
}

// TestRandomDamage: a PROJECT file that was edited anyhow is refused with its line, or what
// it still says is followed; nothing panics, and a verb that is refused changes nothing.
func TestRandomDamage(t *testing.T) {
	t.Parallel()
	p := newPrototype(t, true)
	good := contentsOf(p, "PROJECT")
	tried, refused := seeds(), 0
	for _, seed := range tried {
		random := rand.New(rand.NewPCG(seed, 4))
		damaged := damage(random, good)
		var root string
		var before *txtar.Archive
		for _, v := range verbs(p.options) {
			if before == nil {
				root = t.TempDir()
				write(t, root, p.tree)
				must(t, os.WriteFile(filepath.Join(root, "PROJECT"), []byte(damaged), 0o644))
				before = tree(t, root)
			}
			plan, err := v.plan(root)
			if err == nil {
				must(t, plan.Apply(report.Discard))
				checkParses(t, before, tree(t, root))
				before = nil // the next verb has the damaged project itself
				continue
			}
			refused++
			if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where == "" || refusal.What == "" || refusal.Hint == "" {
				t.Errorf("seed %d: %s: what, where or what to do is missing: %v", seed, v.name, err)
			}
			if diff := treeDiff(before, tree(t, root)); diff != "" {
				t.Fatalf("seed %d: %s: %s", seed, v.name, diff)
			}
		}
	}
	if len(tried) >= 10 && refused == 0 {
		t.Error("nothing was refused")
	}
}

// damage edits a text in one to three ways.
func damage(random *rand.Rand, text string) string {
	for range 1 + random.IntN(3) {
		lines := strings.SplitAfter(text, "\n")
		at := random.IntN(len(lines))
		key, _, _ := strings.Cut(lines[at], ":")
		switch random.IntN(9) {
		case 0:
			text = text[:random.IntN(len(text)+1)]
			continue
		case 1:
			lines[at] = key + ": " + []string{"[1, 2]", "{a: b}", "12", "null", "", "true", "&x y", "*x", "!!binary x", "|"}[random.IntN(10)] + "\n"
		case 2:
			lines = slices.Insert(lines, at, lines[at])
		case 3:
			lines = slices.Insert(lines, at, "<<<<<<< HEAD\n")
		case 4:
			lines = slices.Delete(lines, at, at+1)
		case 5:
			lines[at] = "  " + lines[at]
		case 6:
			lines[at] = strings.TrimLeft(lines[at], " ")
		case 7:
			lines[at] = lines[at][:random.IntN(len(lines[at])+1)]
		case 8:
			b := []byte(lines[at])
			if len(b) > 0 {
				b[random.IntN(len(b))] = byte(random.IntN(256))
			}
			lines[at] = string(b)
		}
		text = strings.Join(lines, "")
	}
	return text
}

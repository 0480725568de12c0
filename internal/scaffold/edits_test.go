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

// TestRandomEdits: whatever a user did to the scaffold, the next API keeps every
// line of it, in order, or is refused with a place and leaves everything alone.
func TestRandomEdits(t *testing.T) {
	second := cronJob()
	second.Kind = "Backup"
	applied, refused := 0, 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		root := newProject(t, Project{})
		apply(t)(CreateAPI(root, cronJob()))
		for range 3 {
			editSomething(t, random, root)
		}
		before := tree(t, root)
		plan, err := CreateAPI(root, second)
		if err != nil {
			var refusal *report.Error
			if !errors.As(err, &refusal) || refusal.Where == "" {
				t.Errorf("seed %d: refused without a place: %v", seed, err)
			}
			refused++
			continue
		}
		must(t, plan.Apply(report.Discard))
		applied++
		checkKept(t, seed, before, tree(t, root))
	}
	if applied == 0 || refused == 0 {
		t.Errorf("%d applied, %d refused: the edits prove nothing", applied, refused)
	}
}

// editSomething changes one text file of the project in one way.
func editSomething(t *testing.T, random *rand.Rand, root string) {
	t.Helper()
	files := slices.DeleteFunc(tree(t, root).Files, func(f txtar.File) bool {
		return slices.Contains([]string{BaseFile, "go.sum", "go.mod"}, f.Name)
	})
	f := files[random.IntN(len(files))]
	name := filepath.Join(root, filepath.FromSlash(f.Name))
	lines := strings.SplitAfter(string(f.Data), "\n")
	at := random.IntN(len(lines))
	switch random.IntN(6) {
	case 0:
		must(t, os.Remove(name))
		return
	case 1:
		lines = slices.Delete(lines, at, at+1)
	case 2:
		lines = slices.Insert(lines, at, "# mine\n")
	case 3:
		lines = slices.Insert(lines, at, "// mine\n")
	case 4:
		lines[at] = " " + lines[at]
	case 5: // move what is often an insertion point
		lines = append(lines[:at:at], append(slices.Clone(lines[at+1:]), lines[at])...)
	}
	must(t, os.WriteFile(name, []byte(strings.Join(lines, "")), 0o644))
}

// checkKept fails when a line of before is gone or moved in after. PROJECT and the
// base belong to the tool.
func checkKept(t *testing.T, seed uint64, before, after *txtar.Archive) {
	t.Helper()
	now := map[string]string{}
	for _, f := range after.Files {
		now[f.Name] = string(f.Data)
	}
	for _, f := range before.Files {
		if f.Name == BaseFile || f.Name == "PROJECT" {
			continue
		}
		rest, ok := now[f.Name]
		if !ok {
			t.Errorf("seed %d: %s is gone", seed, f.Name)
		}
		for line := range strings.Lines(string(f.Data)) {
			line = strings.TrimSpace(line)
			i := strings.Index(rest, line)
			if i < 0 {
				t.Errorf("seed %d: %s: line %q is gone or moved", seed, f.Name, line)
				break
			}
			rest = rest[i+len(line):]
		}
	}
}

package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestMultiGroup moves the projects in testdata/multigroup: an archive has the project and,
// below want/, all that is there afterwards; or the file `refused`, with the places and
// problems that are told, and then nothing is changed.
func TestMultiGroup(t *testing.T) {
	archives, err := filepath.Glob("testdata/multigroup/*.txtar")
	must(t, err)
	if len(archives) == 0 {
		t.Fatal("no projects in testdata/multigroup")
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			must(t, err)
			before, want, refused := takeApart(archive)
			root := writeTree(t, before)
			plan, err := EditProject(fileview.Disk(root), MultiGroup(true))
			if refused != "" {
				compareRefusal(t, refused, err)
				return
			}
			must(t, err)
			must(t, plan.Apply(report.Discard))
			after := tree(t, root)
			if *update {
				must(t, os.WriteFile(name, txtar.Format(archiveOf(archive.Comment, before, after)), 0o644))
				return
			}
			if diff := cmp.Diff(string(txtar.Format(want)), string(txtar.Format(after))); diff != "" {
				t.Errorf("(-want +got; -update accepts it):\n%s", diff)
			}
			again, err := EditProject(fileview.Disk(root), MultiGroup(true))
			must(t, err)
			if !again.Empty() {
				t.Errorf("a second time changes %v", again.Changes())
			}
		})
	}
}

// takeApart returns the project of an archive, what is wanted, and what is refused.
func takeApart(archive *txtar.Archive) (before, want *txtar.Archive, refused string) {
	before, want = &txtar.Archive{}, &txtar.Archive{}
	for _, f := range archive.Files {
		name, wanted := strings.CutPrefix(f.Name, "want/")
		switch {
		case f.Name == "refused":
			refused = string(f.Data)
		case wanted:
			want.Files = append(want.Files, txtar.File{Name: name, Data: f.Data})
		default:
			before.Files = append(before.Files, f)
		}
	}
	return before, want, refused
}

// archiveOf puts an archive together again.
func archiveOf(comment []byte, before, after *txtar.Archive) *txtar.Archive {
	archive := &txtar.Archive{Comment: comment, Files: before.Files}
	for _, f := range after.Files {
		archive.Files = append(archive.Files, txtar.File{Name: "want/" + f.Name, Data: f.Data})
	}
	return archive
}

func writeTree(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range archive.Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, f.Data, 0o644))
	}
	return root
}

// compareRefusal wants each line of text in what is refused.
func compareRefusal(t *testing.T, lines string, err error) {
	t.Helper()
	var refusal *report.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v", err)
	}
	all := refusal.Where + ": " + refusal.What + "\n" + refusal.Hint
	for line := range strings.Lines(lines) {
		if !strings.Contains(all, strings.TrimSpace(line)) {
			t.Errorf("no %q in\n%s", strings.TrimSpace(line), all)
		}
	}
}

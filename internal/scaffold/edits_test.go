package scaffold

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/rounds"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
)

var (
	edits    = flag.Int("edits", -1, "how many random edits of projects to try every verb on, and how many random projects to take apart again; by default 10, with -short 2")
	editSeed = flag.Uint64("seed", 0, "the first seed of the random edits")
)

// seeds are those of the random edits, and of the random projects.
func seeds() []uint64 {
	n := *edits
	if n < 0 {
		n = rounds.Of(10, 2)
	}
	s := make([]uint64, n)
	for i := range s {
		s[i] = *editSeed + uint64(i)
	}
	return s
}

// A verb is one way in which the tool changes a project.
type verb struct {
	name string
	plan func(root string) (*Plan, error)
	// takes says that lines and files of the scaffold go.
	takes bool
}

// verbs are all of them, for projects that have the API of cronJob.
func verbs(o Project) []verb {
	backup := cronJob()
	backup.Kind = "Backup"
	hooks := Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true, Validation: true}
	return []verb{
		{"create api", func(root string) (*Plan, error) { return CreateAPI(fileview.Disk(root), backup) }, false},
		{"create webhook", func(root string) (*Plan, error) { return CreateWebhook(fileview.Disk(root), hooks) }, false},
		{"delete api", func(root string) (*Plan, error) { return DeleteAPI(fileview.Disk(root), deletionOf(cronJob())) }, true},
		{"delete webhook", func(root string) (*Plan, error) {
			return DeleteWebhook(fileview.Disk(root), WebhookDeletion{Options: deletionOf(cronJob())})
		}, true},
		{"edit --enable", func(root string) (*Plan, error) {
			return EditProject(fileview.Disk(root), Enable(features.Prometheus, features.NetworkPolicy, features.SelfCert))
		}, true},
		{"edit --disable", func(root string) (*Plan, error) { return EditProject(fileview.Disk(root), Disable(features.Metrics)) }, true},
		{"edit --multigroup", func(root string) (*Plan, error) { return EditProject(fileview.Disk(root), MultiGroup(true)) }, true},
		{"edit --namespaced", func(root string) (*Plan, error) { return EditProject(fileview.Disk(root), InNamespace(true)) }, true},
		{"init", func(root string) (*Plan, error) { return Init(fileview.Disk(root), o) }, false},
	}
}

// TestRandomEdits: whatever a user did to the scaffold, every verb keeps all of it, or is
// refused as a whole with the file and what to do. Nothing is ever half done.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	prototypes := []*prototype{newPrototype(t, false), newPrototype(t, true)}
	tried, applied, refused := seeds(), 0, 0
	for _, seed := range tried {
		random := rand.New(rand.NewPCG(seed, 1))
		p := prototypes[random.IntN(len(prototypes))]
		edited := p.copy()
		var done []string
		for i := range 1 + random.IntN(4) {
			done = append(done, editSomething(random, edited, fmt.Sprintf("mine%d", i)))
		}
		if seed == *editSeed {
			done = append(done, deleteInsertionPoints(edited, "cmd/main.go")) // whatever chance brings, something is refused
		}
		for _, v := range verbs(p.options) {
			t.Run(fmt.Sprintf("%d/%s", seed, v.name), func(t *testing.T) {
				root := t.TempDir()
				write(t, root, edited)
				if tryVerb(t, v, root, p.tree) {
					applied++
				} else {
					refused++
				}
				if t.Failed() {
					t.Logf("after the edits %q", done)
				}
			})
		}
	}
	t.Logf("%d verbs applied, %d refused", applied, refused)
	if len(tried) >= 10 && (applied == 0 || refused == 0) {
		t.Errorf("%d applied, %d refused: the edits prove nothing", applied, refused)
	}
}

// A prototype is a project whose copies are edited.
type prototype struct {
	options Project
	tree    *txtar.Archive
}

func newPrototype(t *testing.T, webhooks bool) *prototype {
	t.Helper()
	o := Project{Domain: "example.com", Repo: "example.com/op", Name: "op", License: License{Year: 2026}}
	root := newProject(t, o)
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	if webhooks {
		apply(t)(CreateWebhook(fileview.Disk(root), Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true}))
	}
	return &prototype{o, tree(t, root)}
}

func (p *prototype) copy() *txtar.Archive {
	c := &txtar.Archive{}
	for _, f := range p.tree.Files {
		c.Files = append(c.Files, txtar.File{Name: f.Name, Data: slices.Clone(f.Data)})
	}
	return c
}

func write(t *testing.T, root string, archive *txtar.Archive) {
	t.Helper()
	for _, f := range archive.Files {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, f.Data, 0o644))
	}
}

var typeName = regexp.MustCompile(`\b(CronJobSpec|CronJobReconciler|CronJobStatus)\b`)

// editSomething changes one text file in one way, and says what. mark is a word that only
// this edit has put there, where it has put anything.
func editSomething(random *rand.Rand, a *txtar.Archive, mark string) string {
	var files []int
	for i, f := range a.Files {
		if !slices.Contains([]string{base.Path, "go.sum", "go.mod", "PROJECT"}, f.Name) {
			files = append(files, i)
		}
	}
	i := files[random.IntN(len(files))]
	f := &a.Files[i]
	comment := "# " + mark + "\n"
	if strings.HasSuffix(f.Name, ".go") {
		comment = "// " + mark + "\n"
	}
	lines := strings.SplitAfter(string(f.Data), "\n")
	at := random.IntN(len(lines))
	what := "?"
	switch random.IntN(12) {
	case 0:
		what = "delete " + f.Name
		a.Files = slices.Delete(slices.Clone(a.Files), i, i+1)
		return what
	case 1:
		what, f.Name = "rename", filepath.ToSlash(filepath.Join(filepath.Dir(f.Name), mark+filepath.Base(f.Name)))
		return what + " " + f.Name
	case 2:
		what, lines = "delete a line", slices.Delete(lines, at, at+1)
	case 3, 4:
		what, lines = "insert a comment", slices.Insert(lines, at, comment)
	case 5:
		what, lines[at] = "indent", " "+lines[at]
	case 6:
		what, lines = "move a line to the end", append(lines[:at:at], append(slices.Clone(lines[at+1:]), lines[at])...)
	case 7:
		return deleteInsertionPoints(a, f.Name)
	case 8:
		what = "move an insertion point"
		if m := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "+kubebuilder:scaffold:") }); m >= 0 {
			line := lines[m]
			lines = slices.Delete(lines, m, m+1)
			lines = slices.Insert(lines, random.IntN(len(lines)), line)
		}
	case 9:
		what = "CRLF"
		f.Data = bytes.ReplaceAll(f.Data, []byte("\n"), []byte("\r\n"))
		return what + " " + f.Name
	case 10:
		what = "add code"
		if strings.HasSuffix(f.Name, ".go") {
			lines = append(lines, "\nvar "+mark+" = 1\n")
		} else {
			lines = append(lines, comment)
		}
	case 11:
		what = "change a type"
		lines = strings.SplitAfter(typeName.ReplaceAllString(string(f.Data), "${1}"+mark), "\n")
	}
	f.Data = []byte(strings.Join(lines, ""))
	return what + " " + f.Name
}

// deleteInsertionPoints deletes all of them in one file, and says so.
func deleteInsertionPoints(a *txtar.Archive, name string) string {
	for i, f := range a.Files {
		if f.Name == name {
			lines := slices.DeleteFunc(strings.SplitAfter(string(f.Data), "\n"), func(line string) bool {
				return strings.Contains(line, "+kubebuilder:scaffold:")
			})
			a.Files[i].Data = []byte(strings.Join(lines, ""))
		}
	}
	return "delete insertion points " + name
}

// tryVerb runs a verb on an edited project and checks what became of it. It reports whether
// the verb was applied.
func tryVerb(t *testing.T, v verb, root string, scaffolded *txtar.Archive) bool {
	t.Helper()
	before := tree(t, root)
	plan, err := v.plan(root)
	if err == nil {
		err = plan.Apply(report.Discard)
	}
	after := tree(t, root)
	if err != nil {
		checkRefusal(t, err)
		if diff := treeDiff(before, after); diff != "" {
			t.Errorf("a refused verb changed something: %s", diff)
		}
		return false
	}
	checkMarks(t, before, after)
	if v.takes {
		checkTaken(t, before, after, scaffolded)
	} else {
		checkKept(t, before, after)
	}
	checkParses(t, before, after)
	return true
}

// checkRefusal wants to be told what, where and what to do.
func checkRefusal(t *testing.T, err error) {
	t.Helper()
	refusal, ok := errors.AsType[*report.Error](err)
	switch {
	case !ok:
		t.Errorf("refused without a place: %v", err)
	case refusal.Where == "" || refusal.What == "" || refusal.Hint == "":
		t.Errorf("what, where or what to do is missing: %+v", refusal)
	case strings.Contains(refusal.What, "insertion point") && (!strings.Contains(refusal.Where, ":") || !strings.Contains(refusal.Hint, "\n")):
		t.Errorf("the line or the text to insert is missing: %+v", refusal)
	}
}

// contents maps paths to contents. PROJECT and the base belong to the tool.
func contents(a *txtar.Archive) map[string]string {
	all := map[string]string{}
	for _, f := range a.Files {
		if f.Name != base.Path && f.Name != "PROJECT" {
			all[f.Name] = string(f.Data)
		}
	}
	return all
}

var mine = regexp.MustCompile(`mine\d`)

// checkMarks: every word that an edit has put anywhere is still somewhere, as often.
func checkMarks(t *testing.T, before, after *txtar.Archive) {
	t.Helper()
	count := func(a *txtar.Archive) map[string]int {
		n := map[string]int{}
		for name, data := range contents(a) {
			for _, m := range mine.FindAllString(name+"\n"+data, -1) {
				n[m]++
			}
		}
		return n
	}
	was, is := count(before), count(after)
	for m, n := range was {
		if is[m] < n {
			t.Errorf("%s was there %d times and is %d times", m, n, is[m])
		}
	}
}

// checkKept fails when a line of before is gone or moved in after. A requirement may become a direct one.
func checkKept(t *testing.T, before, after *txtar.Archive) {
	t.Helper()
	now := contents(after)
	for name, data := range contents(before) {
		rest, ok := now[name]
		if !ok {
			t.Errorf("%s is gone", name)
		}
		for line := range strings.Lines(data) {
			line = strings.TrimSpace(line)
			if required, indirect := strings.CutSuffix(line, " // indirect"); name == "go.mod" && indirect && strings.Contains(now[name], required) {
				continue
			}
			i := strings.Index(rest, line)
			if i < 0 {
				t.Errorf("%s: line %q is gone or moved", name, line)
				break
			}
			rest = rest[i+len(line):]
		}
	}
}

// checkTaken fails when a line is gone that was not scaffolded. Lines that are left out of
// account are those that were taken, or that moved with their file.
func checkTaken(t *testing.T, before, after, scaffolded *txtar.Archive) {
	t.Helper()
	known, now := map[string]bool{}, map[string]bool{}
	for lines, a := range map[*map[string]bool]*txtar.Archive{&known: scaffolded, &now: after} {
		for _, data := range contents(a) {
			for line := range strings.Lines(data) {
				(*lines)[strings.TrimSpace(line)] = true
			}
		}
	}
	for name, data := range contents(before) {
		for line := range strings.Lines(data) {
			if line = strings.TrimSpace(line); !known[line] && !now[line] {
				t.Errorf("%s: line %q, which nobody scaffolded, is gone", name, line)
			}
		}
	}
}

// checkParses: Go files that could be read before can be read after, and new ones can.
func checkParses(t *testing.T, before, after *txtar.Archive) {
	t.Helper()
	parses := func(name, data string) error {
		_, err := parser.ParseFile(token.NewFileSet(), name, data, 0)
		return err
	}
	was := contents(before)
	for name, data := range contents(after) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if old, ok := was[name]; ok && parses(name, old) != nil {
			continue
		}
		if err := parses(name, data); err != nil {
			t.Errorf("does not parse any more: %v", err)
		}
	}
}

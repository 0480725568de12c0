package inputs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func isFresh(t *testing.T, m inputs.Memory, want string) bool {
	t.Helper()
	answer, ok := m.Fresh()
	if ok && string(answer) != want {
		t.Errorf("answer %q, want %q", answer, want)
	}
	return ok
}

// TestChangesWithinAClockTick changes files right after they were read, as long as
// before, so often that some changes leave all times as they were.
func TestChangesWithinAClockTick(t *testing.T) {
	dir, m := t.TempDir(), inputs.In(t.TempDir(), "key")
	path := filepath.Join(dir, "file")
	same := 0
	for i := range 200 {
		write(t, path, fmt.Sprint(1000+i))
		set := inputs.NewSet()
		if _, err := set.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, fmt.Sprint(2000+i))
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if before.ModTime().Equal(after.ModTime()) {
			same++
		}
		if err := m.Save(set, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		if isFresh(t, m, "") {
			t.Fatalf("change %d was not seen", i)
		}
	}
	t.Logf("%d changes left the time as it was", same)
}

// TestFoldersAreTheirEntries: what comes and goes between runs is no change, what
// stays is.
func TestFoldersAreTheirEntries(t *testing.T) {
	dir, m := t.TempDir(), inputs.In(t.TempDir(), "key")
	write(t, filepath.Join(dir, "file"), "")
	set := inputs.NewSet()
	if _, err := set.ReadDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(set, nil, []byte("yes"), nil); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".file.swp"), "")
	if isFresh(t, m, "yes") {
		t.Error("a new entry was not seen")
	}
	if err := os.Remove(filepath.Join(dir, ".file.swp")); err != nil {
		t.Fatal(err)
	}
	if !isFresh(t, m, "yes") {
		t.Error("an entry that is gone again counts")
	}
	if err := os.Remove(filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "file"), 0o755); err != nil {
		t.Fatal(err)
	}
	if isFresh(t, m, "yes") {
		t.Error("a folder in place of a file was not seen")
	}
}

// TestAbsenceIsAnInput: what was looked for in vain must not appear.
func TestAbsenceIsAnInput(t *testing.T) {
	dir := t.TempDir()
	for name, look := range map[string]func(in *inputs.Set, path string){
		"read":   func(in *inputs.Set, path string) { _, _ = in.ReadFile(path) },
		"list":   func(in *inputs.Set, path string) { _, _ = in.ReadDir(path) },
		"status": func(in *inputs.Set, path string) { _, _ = in.Stat(path) },
	} {
		t.Run(name, func(t *testing.T) {
			m, path := inputs.In(t.TempDir(), "key"), filepath.Join(dir, name)
			set := inputs.NewSet()
			look(set, path)
			if err := m.Save(set, nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			if !isFresh(t, m, "") {
				t.Error("not fresh")
			}
			write(t, path, "")
			if isFresh(t, m, "") {
				t.Error("what appeared was not seen")
			}
		})
	}
}

// TestTouchedFiles: of young files it is the content that counts.
func TestTouchedFiles(t *testing.T) {
	m, path := inputs.In(t.TempDir(), "key"), filepath.Join(t.TempDir(), "file")
	write(t, path, "content")
	set := inputs.NewSet()
	if _, err := set.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(set, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first time may remember something
		if !isFresh(t, m, "") {
			t.Error("a young file with other times and the same content counts as changed")
		}
	}
}

// TestOutputs: a file that was read and then written is what the next run must
// find, but only if what was read of it is still there.
func TestOutputs(t *testing.T) {
	for _, ignored := range []bool{true, false} {
		m, path := inputs.In(t.TempDir(), "key"), filepath.Join(t.TempDir(), "file")
		write(t, path, "before")
		set := inputs.NewSet()
		if _, err := set.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		write(t, path, "after")
		output := inputs.Output{Path: path, Content: []byte("after"), Ignored: ignored}
		if err := m.Save(set, []inputs.Output{output}, nil, nil); err != nil {
			t.Fatal(err)
		}
		if got := isFresh(t, m, ""); got != ignored {
			t.Errorf("ignored %v: fresh %v", ignored, got)
		}
		write(t, path, "edited")
		if isFresh(t, m, "") {
			t.Errorf("ignored %v: an edit after the run was not seen", ignored)
		}
	}
}

// TestKeysAreApart: each key has its own memory, and the oldest ones go. Files of the user's stay, who may have runs of
// another kind there.
func TestKeysAreApart(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "loss.csv")
	write(t, mine, "0.5")
	long := time.Now().Add(-1000 * time.Hour)
	if err := os.Chtimes(mine, long, long); err != nil {
		t.Fatal(err)
	}
	for i := range 210 {
		m := inputs.In(dir, fmt.Sprint(i))
		if isFresh(t, m, "") {
			t.Fatal("fresh before it was saved")
		}
		if err := m.Save(inputs.NewSet(), nil, []byte(fmt.Sprint(i)), nil); err != nil {
			t.Fatal(err)
		}
		if !isFresh(t, m, fmt.Sprint(i)) {
			t.Fatal("not fresh after it was saved")
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 201 {
		t.Errorf("%d memories are kept (%v), want at most 200", len(entries)-1, err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// TestOpaque: what could not be noted makes every run a new one.
func TestOpaque(t *testing.T) {
	m, set := inputs.In(t.TempDir(), "key"), inputs.NewSet()
	set.Opaque()
	if err := m.Save(set, nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if isFresh(t, m, "") {
		t.Error("fresh")
	}
}

// TestLast: a run that begins from the last one depends on all that has not changed, although it looks at none of that.
func TestLast(t *testing.T) {
	dir := t.TempDir()
	changes, stays, output := filepath.Join(dir, "changes"), filepath.Join(dir, "stays"), filepath.Join(dir, "output")
	m := inputs.In(t.TempDir(), "key")
	if m.Last() != nil {
		t.Fatal("something is remembered of no run")
	}
	set := inputs.NewSet()
	for _, path := range []string{changes, stays, output} {
		write(t, path, "before")
	}
	read(t, set, changes)
	read(t, set, stays)
	if err := m.Save(set, []inputs.Output{{Path: output, Content: []byte("before")}}, nil, []byte("help")); err != nil {
		t.Fatal(err)
	}

	write(t, changes, "after")
	last := m.Last()
	if last == nil || last.Fresh() || string(last.Help()) != "help" {
		t.Fatalf("the change was not seen: %+v", last)
	}
	if diff := cmp.Diff([]inputs.Change{{Path: changes, Content: true}}, last.Changed()); diff != "" {
		t.Error(diff)
	}
	set = last.Inputs()
	read(t, set, changes)
	write(t, output, "after")
	if err := m.Save(set, []inputs.Output{{Path: output, Content: []byte("after")}}, []byte("yes"), nil); err != nil {
		t.Fatal(err)
	}
	if !isFresh(t, m, "yes") {
		t.Error("what was read and written again counts as changed")
	}
	write(t, stays, "later")
	if isFresh(t, m, "yes") {
		t.Error("a change of what was not looked at again is not seen")
	}
}

func read(t *testing.T, set *inputs.Set, path string) {
	t.Helper()
	if _, err := set.ReadFile(path); err != nil {
		t.Fatal(err)
	}
}

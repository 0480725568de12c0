package imagestore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// marks are the images that the store has.
func (s *site) marks() (marks []string) {
	s.Helper()
	for _, image := range s.store.List() {
		mark, err := os.ReadFile(filepath.Join(image.Root, "which"))
		if err != nil {
			s.Error(err)
		}
		marks = append(marks, string(mark))
	}
	slices.Sort(marks)
	return marks
}

// TestSuperseded: of the images that a tag led to the newest two stay, and those of containers, those with another name
// and those that it led to until lately. What is there is on the disk, nothing else, also after a restart.
func TestSuperseded(t *testing.T) {
	s := newSite(t)
	images := map[string]Image{}
	load := func(tag, mark string) {
		s.push(loaded+tag, s.marked(mark))
		images[mark] = s.runs(tag, mark)
	}
	load("op:v1", "1 used")
	load("op:v1", "2 named")
	load("op:other", "2 named")
	for _, mark := range []string{"3", "4", "5 last", "6 now"} {
		load("op:v1", mark)
	}
	all := s.marks()
	wantMarks := func(want ...string) {
		t.Helper()
		if got := s.marks(); !slices.Equal(got, want) {
			t.Errorf("there are %q, want %q", got, want)
		}
	}
	var keep []string // digests
	prune := func(age time.Duration, dryRun bool, want ...string) {
		t.Helper()
		pruned, err := s.store.Prune(age, keep, dryRun)
		var got []string
		for _, p := range pruned {
			for mark, image := range images {
				if p.ID == image.ID && p.Tag == "index.docker.io/library/op:v1" && p.Bytes >= int64(len(mark)) {
					got = append(got, mark)
				}
			}
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("pruned %q (%v), want %q", got, err, want)
		}
	}
	prune(0, false) // before the runtime is there
	wantMarks(all...)
	s.store.Uses(func(id string) bool { return id == images["1 used"].ID })
	prune(supersededFor, false)
	wantMarks(all...)
	s.restart()
	s.store.Uses(func(id string) bool { return id == images["1 used"].ID })
	prune(0, true, "3", "4")
	_, digest, _ := strings.Cut(images["4"].Digests[0], "@")
	keep = []string{digest}
	prune(0, true, "3")
	keep = nil
	wantMarks(all...)
	prune(0, false, "3", "4")
	prune(0, false)
	wantMarks("1 used", "2 named", "5 last", "6 now")
	entries, err := os.ReadDir(s.store.dir)
	if err != nil || len(entries) != 4 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "gone-") }) {
		t.Errorf("the folder has %v (%v)", entries, err)
	}
	s.restart()
	wantMarks("1 used", "2 named", "5 last", "6 now")
	load("op:v1", "4") // which was removed
	s.store.Uses(func(string) bool { return false })
	prune(0, false, "1 used", "5 last")
	wantMarks("2 named", "4", "6 now")
}

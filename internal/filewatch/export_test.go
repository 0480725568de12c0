package filewatch

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"
)

// ComparePoll measures a poll, and a walk with package filepath.
func ComparePoll(b *testing.B, root string) {
	t := newTree(Options{Poll: true, Folders: func() []Folder { return []Folder{{Path: root, Below: true}} }}.withDefaults())
	t.sync(b.Context())
	l := newLoop(t, nil)
	var poll, walk time.Duration
	for b.Loop() {
		began := time.Now()
		if found := l.scan(b.Context()); len(found) > 0 {
			b.Fatal(found)
		}
		poll += time.Since(began)
		began = time.Now()
		if err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil {
				_, err = entry.Info()
			}
			return err
		}); err != nil {
			b.Fatal(err)
		}
		walk += time.Since(began)
	}
	b.ReportMetric(float64(poll)/float64(walk), "x/walk")
	b.ReportMetric(float64(poll.Microseconds())/1000/float64(b.N), "ms/poll")
}

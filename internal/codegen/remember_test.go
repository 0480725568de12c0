package codegen

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrune: answers go that no command has used for long, and no file of the user's.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	old, recent := strings.Repeat("a", 32)+".json", strings.Repeat("b", 32)+".json"
	files := map[string]bool{old: false, ".answer-12": false, recent: true, "mine.json": true, ".answer-mine": true}
	for name := range files {
		path, at := filepath.Join(dir, name), time.Now().Add(-2*memoryAge)
		if name == recent {
			at = time.Now()
		}
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	prune(dir)
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

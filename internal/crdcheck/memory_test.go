package crdcheck

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestForget: of many answers those go that no command has used for long, and no file of the user's.
func TestForget(t *testing.T) {
	m := memory{dir: t.TempDir()}
	long := time.Now().Add(-2 * forgotten)
	files := map[string]bool{"mine.json": true, "holiday.jpg": true}
	for i := range many {
		files[fmt.Sprintf("%032x.json", i)] = i%2 == 0
	}
	for name := range files {
		path := filepath.Join(m.dir, name)
		err := os.WriteFile(path, nil, 0o644)
		if !files[name] || len(name) < 32 {
			err = errors.Join(err, os.Chtimes(path, long, long))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m.forget()
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(m.dir, name)); (err == nil) != stays {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

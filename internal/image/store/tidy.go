package store

import (
	"os"
	"path/filepath"
	"time"
)

const (
	// abandoned is how old the folder of a piece of work is that nobody is at any more: its process was killed.
	abandoned = 24 * time.Hour
	// unused is how long a compiled program stays that is not built any more. Building it touches it.
	unused = 30 * 24 * time.Hour
)

// Tidy removes what killed processes have left, and programs that were not built for long. What cannot be removed stays.
func (s Store) Tidy() {
	remove(filepath.Join(s.Dir, "work-*"), "", abandoned)
	remove(filepath.Join(s.Programs(), "*"), "manager", unused)
}

// remove removes the folders that match a pattern, by the age of a file in them.
func remove(pattern, file string, age time.Duration) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return
	}
	for _, dir := range found {
		info, err := os.Stat(filepath.Join(dir, file))
		if err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(dir)
		}
	}
}

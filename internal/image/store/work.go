package store

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// begun is how old the folder of a piece of work is that whoever made it has locked, unless he was killed.
	begun = time.Minute
	// unused is how long a compiled program stays that is not built any more. Building it touches it.
	unused = 30 * 24 * time.Hour
)

// lockName is the file by which the folder of a piece of work is seen to be in use.
const lockName = ".in-use"

// Temp makes a folder for one piece of work, on the same disk; done removes it.
func (s Store) Temp() (dir string, done func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(s.Dir, "work-"); err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(dir, lockName))
	if _, err := lock.TryLock(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() {
		_ = lock.Close()
		_ = os.RemoveAll(dir)
	}, nil
}

// Tidy removes what killed processes have left, and programs that were not built for long. What cannot be removed stays.
func (s Store) Tidy() {
	remove(filepath.Join(s.Dir, "work-*"), "", begun, abandoned)
	remove(filepath.Join(s.Programs(), "*"), "manager", unused, func(string) bool { return true })
}

// abandoned says whether nobody is at a piece of work any more: locks end with their processes.
func abandoned(dir string) bool {
	lock := flock.New(filepath.Join(dir, lockName))
	alone, err := lock.TryLock()
	_ = lock.Close()
	return alone && err == nil
}

// remove removes the folders that match a pattern and a condition, by the age of a file in them.
func remove(pattern, file string, age time.Duration, condition func(dir string) bool) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return
	}
	for _, dir := range found {
		info, err := os.Stat(filepath.Join(dir, file))
		if err == nil && time.Since(info.ModTime()) > age && condition(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

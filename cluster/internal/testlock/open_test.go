package testlock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestPlanted: another user of the machine, who may make anything among temporary files, has no test change or make a
// file elsewhere.
func TestPlanted(t *testing.T) {
	for name, plant := range map[string]func(gate, victim string) error{
		"a link in the place of the folder": func(gate, victim string) error { return os.Symlink(victim, gate) },
		"a file in the place of the folder": func(gate, _ string) error { return os.WriteFile(gate, nil, 0o644) },
		"a link in the place of a lock": func(gate, victim string) error {
			return errors.Join(os.Mkdir(gate, 0o777), os.Symlink(filepath.Join(victim, "name"), filepath.Join(gate, "name")))
		},
		"a folder in the place of a lock": func(gate, _ string) error { return os.MkdirAll(filepath.Join(gate, "name"), 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			folder, victim := alone(t), t.TempDir()
			if err := errors.Join(os.Chmod(victim, 0o700), plant(folder, victim)); err != nil {
				t.Fatal(err)
			}
			if lock, err := open("name"); err == nil {
				held, err := lock.TryLock()
				t.Errorf("it is opened; and held: %t, %v", held, err)
			}
			info, err := os.Stat(victim)
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the mode of another folder has changed: %v, %v", info.Mode(), err)
			}
			if made, err := os.ReadDir(victim); err != nil || len(made) > 0 {
				t.Errorf("%v is made elsewhere, %v", made, err)
			}
		})
	}
}

// alone gives the test a gate of its own.
func alone(t *testing.T) (folder string) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	return filepath.Join(temp, "slipway-test-gate")
}

// TestForAll: every user can hold the locks that another one has made, whatever that one's umask is.
func TestForAll(t *testing.T) {
	folder := alone(t)
	Hold(t, "name")
	dir, err := os.Stat(folder)
	if err != nil || dir.Mode().Perm() != 0o777 || dir.Mode()&os.ModeSticky == 0 {
		t.Errorf("the folder: %v, %v", dir.Mode(), err)
	}
	file, err := os.Stat(filepath.Join(folder, "name"))
	if err != nil || file.Mode().Perm() != 0o644 {
		t.Errorf("the lock: %v, %v", file.Mode(), err)
	}
}

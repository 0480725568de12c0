package transaction

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// The journal has one name while the run can be taken back, and another one when it is
// final and there is only clearing up to do.
const (
	journalFile = pending + "/journal"
	doneFile    = pending + "/done"
)

// A journal names what a run changes. It is there, complete, before the first change
// and gone after the last one.
type journal struct {
	Files []entry  `json:"files"`
	Dirs  []string `json:"dirs,omitempty"` // folders that the run makes, outermost first
}

// An entry is one file: where it is and what it held and will hold.
type entry struct {
	Path   string `json:"path"`             // as the user knows it
	Target string `json:"target,omitempty"` // where a symbolic link leads, when that is elsewhere
	Before string `json:"before,omitempty"` // digests of the contents; empty: no file
	After  string `json:"after,omitempty"`
	From   string `json:"from,omitempty"` // of a file that is renamed: where it was
}

// add appends a file and the folders that are missing for it.
func (j *journal) add(root, target string, f File) {
	e := entry{Path: f.Path}
	if target != filepath.Join(root, filepath.FromSlash(f.Path)) {
		e.Target = target
	}
	if f.Exists {
		e.Before = digest(f.Before)
	}
	if !f.Delete {
		e.After = digest(f.After)
		j.addDirs(root, path.Dir(f.Path))
	}
	j.Files = append(j.Files, e)
}

// addMove appends a file that is renamed and the folders that are missing for it.
func (j *journal) addMove(root string, f File) {
	j.addDirs(root, path.Dir(f.Path))
	j.Files = append(j.Files, entry{Path: f.Path, From: f.From, After: digest(f.Before)})
}

func (j *journal) addDirs(root, dir string) {
	if dir == "." {
		return
	}
	for _, known := range j.Dirs {
		if known == dir {
			return
		}
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir))); err == nil {
		return
	}
	j.addDirs(root, path.Dir(dir))
	j.Dirs = append(j.Dirs, dir)
}

// target is the full path of the i-th file.
func (j *journal) target(root string, i int) string {
	if t := j.Files[i].Target; t != "" {
		return t
	}
	return filepath.Join(root, filepath.FromSlash(j.Files[i].Path))
}

// write puts the journal into place by a rename: it is complete or not there.
func (j *journal) write(disk Disk, root string) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	name := filepath.Join(root, filepath.FromSlash(journalFile))
	if err := disk.WriteFile(name+".new", data, 0o600); err != nil {
		return err
	}
	return disk.Rename(name+".new", name)
}

// readJournal reads the journal of a run that did not end, if it is there by this name.
func readJournal(root, name string) (j journal, there bool, err error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return j, false, nil
	}
	if err != nil {
		return j, false, &FileError{Path: name, Err: err}
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return j, false, &FileError{Path: name, Err: fmt.Errorf("the journal is damaged: %w", err)}
	}
	return j, true, nil
}

// state is the digest of what is at a path now; empty when there is nothing.
func state(name string) (string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return digest(data), nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

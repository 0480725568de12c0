package transaction

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// The journal has one name while the run can be taken back, and another one when it is
// final and there is only clearing up to do. The owner's file is there before both.
const (
	journalFile = pending + "/journal"
	doneFile    = pending + "/done"
	ownerFile   = pending + "/owner"
)

// maxJournal bounds a journal, in bytes; a plan of thousands of files has a megabyte.
const maxJournal = 64 << 20

// A journal names what a run changes. It is there, complete, before the first change
// and gone after the last one. All names are below the folder and lead through no link.
type journal struct {
	Folder string   `json:"folder"` // the identity of the folder
	Files  []entry  `json:"files"`
	Dirs   []string `json:"dirs,omitempty"` // folders that the run makes, outermost first
}

// An entry is one file: where it is and what it held and will hold.
type entry struct {
	Path   string      `json:"path"`             // as the user knows it
	Target string      `json:"target"`           // where it is once links are followed
	Before string      `json:"before,omitempty"` // digests of the contents; empty: no file
	After  string      `json:"after,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`   // of what is kept
	From   string      `json:"from,omitempty"`   // of a file that is renamed: where it was, as the user knows it
	Source string      `json:"source,omitempty"` // the same once links are followed
}

// add appends a file and the folders that are missing for it.
func (r *run) add(target string, mode fs.FileMode, f File) {
	e := entry{Path: f.Path, Target: target}
	if f.Exists {
		e.Before, e.Mode = digest(f.Before), mode
	}
	if !f.Delete {
		e.After = digest(f.After)
		r.addDirs(path.Dir(target))
	}
	r.journal.Files = append(r.journal.Files, e)
}

// addMove appends a file that is renamed and the folders that are missing for it.
func (r *run) addMove(target, source string, f File) {
	r.addDirs(path.Dir(target))
	r.journal.Files = append(r.journal.Files, entry{Path: f.Path, Target: target, From: f.From, Source: source, After: digest(f.Before)})
}

func (r *run) addDirs(dir string) {
	if dir == "." || slices.Contains(r.journal.Dirs, dir) {
		return
	}
	if _, err := r.root().Lstat(filepath.FromSlash(dir)); err == nil {
		return
	}
	r.addDirs(path.Dir(dir))
	r.journal.Dirs = append(r.journal.Dirs, dir)
}

// writeJournal puts the journal into place by a rename: it is complete or not there.
func (r *run) writeJournal() error {
	r.journal.Folder = r.identity
	data, err := json.Marshal(r.journal)
	if err != nil {
		return err
	}
	if err := r.disk.WriteFile(r.root(), journalFile+".new", seal(data, r.key), 0o600); err != nil {
		return err
	}
	return r.disk.Rename(r.root(), journalFile+".new", journalFile)
}

// seal puts a line in front of a journal that nobody without the key can write.
func seal(data []byte, key Key) []byte {
	return append([]byte(key.sum("journal", "", data)+"\n"), data...)
}

// readJournal reads the journal of a run that did not end, if it is there by this name.
func (r *run) readJournal(name string) (j journal, there bool, err error) {
	info, err := r.root().Lstat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return j, false, nil
	}
	if err != nil {
		return j, false, &FileError{Path: name, Err: err}
	}
	if !info.Mode().IsRegular() || info.Size() > maxJournal {
		return j, false, &ForeignError{Path: name, Err: errNotOurs}
	}
	data, err := r.root().ReadFile(filepath.FromSlash(name))
	if err != nil {
		return j, false, &FileError{Path: name, Err: err}
	}
	if j, err = parse(data, r.key); err != nil {
		return j, false, &ForeignError{Path: name, Err: err}
	}
	if j.Folder != r.identity {
		return j, false, &ForeignError{Path: name, Err: ErrCopied}
	}
	return j, true, nil
}

// parse reads a sealed journal. Of one that is not sealed with the key not a byte more is looked at.
func parse(data []byte, key Key) (journal, error) {
	sum, body, _ := bytes.Cut(data, []byte("\n"))
	if len(key) == 0 || !hmac.Equal(sum, []byte(key.sum("journal", "", body))) {
		return journal{}, errNotOurs
	}
	var j journal
	if err := json.Unmarshal(body, &j); err != nil {
		return journal{}, err
	}
	for _, e := range j.Files {
		if err := e.check(); err != nil {
			return journal{}, err
		}
	}
	for _, dir := range j.Dirs {
		if !local(dir) {
			return journal{}, fmt.Errorf("%q is not a folder of the project", dir)
		}
	}
	return j, nil
}

// check refuses names that no run of ours has: the seal is not the only thing between a journal and the user's files.
func (e entry) check() error {
	for _, name := range []string{e.Path, e.Target, e.From, e.Source} {
		if name != "" && !local(name) {
			return fmt.Errorf("%q is not a file of the project", name)
		}
	}
	switch {
	case e.Path == "" || e.Target == "" || (e.From == "") != (e.Source == ""):
		return errors.New("a file without a name")
	case e.Mode&^fs.ModePerm != 0:
		return fmt.Errorf("%v is not a mode of a file", e.Mode)
	}
	return nil
}

// local tells whether a name is one of a file or folder that runs change: below the folder, and neither git's nor their
// own.
func local(name string) bool {
	parts := strings.Split(name, "/")
	return fs.ValidPath(name) && name != "." && filepath.IsLocal(filepath.FromSlash(name)) && !slices.ContainsFunc(parts, safefs.IsGit) &&
		(len(parts) < 2 || parts[0] != own || parts[1] != path.Base(pending))
}

// other is the state of what is there and is no file.
const other = "no file"

// state is the digest of what is at a name now; empty when there is nothing.
func (r *run) state(name string) (string, error) {
	info, err := r.root().Lstat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // reading a pipe would not end
		return other, nil
	}
	data, err := r.root().ReadFile(filepath.FromSlash(name))
	return digest(data), err
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

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

// The journal is called journal while the run can be reverted, and done once it is final and only cleaning up remains.
// The owner's file exists before both.
const (
	journalFile = pending + "/journal"
	doneFile    = pending + "/done"
	ownerFile   = pending + "/owner"
)

// maxJournal bounds the size of a journal in bytes. A plan of thousands of files has about a megabyte.
const maxJournal = 64 << 20

// A journal names what a run changes. It exists, complete, from before the first change until after the last. All names
// are below the folder and lead through no link.
type journal struct {
	Folder string   `json:"folder"` // see [Identity]
	Files  []entry  `json:"files"`
	Dirs   []string `json:"dirs,omitempty"` // folders that the run creates, outermost first
}

// An entry is one file of a run.
type entry struct {
	Path   string      `json:"path"`             // as the user knows it
	Target string      `json:"target"`           // where it is once links are followed
	Before string      `json:"before,omitempty"` // digest of the content; "" if there is no file
	After  string      `json:"after,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`   // permissions of the backup
	From   string      `json:"from,omitempty"`   // old path of a renamed file, as the user knows it
	Source string      `json:"source,omitempty"` // From once links are followed
}

// add appends a file, and the missing folders above it.
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

// addMove appends a renamed file, and the missing folders above it.
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

// writeJournal creates the journal by a rename, so that it is complete or missing.
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

// seal prepends a line that only the key's owner can compute.
func seal(data []byte, key Key) []byte {
	return append([]byte(key.sum("journal", "", data)+"\n"), data...)
}

// readJournal reads and verifies the journal of that name, if it exists.
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

// parse reads a sealed journal. It checks the seal before it decodes anything.
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
		if !mayChange(dir) {
			return journal{}, fmt.Errorf("%q is not a folder of the project", dir)
		}
	}
	return j, nil
}

// check refuses names that no run writes: after the seal, a second barrier between a journal and the user's files.
func (e entry) check() error {
	for _, name := range []string{e.Path, e.Target, e.From, e.Source} {
		if name != "" && !mayChange(name) {
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

// mayChange reports whether a run may change the name: a path below the folder that is neither git's nor the run's own.
func mayChange(name string) bool {
	parts := strings.Split(name, "/")
	return fs.ValidPath(name) && name != "." && filepath.IsLocal(filepath.FromSlash(name)) && !slices.ContainsFunc(parts, safefs.IsGit) &&
		(len(parts) < 2 || parts[0] != slipwayFolder || parts[1] != path.Base(pending))
}

// notRegular is the state of a name that exists and is no regular file.
const notRegular = "no file"

// state returns the digest of the file at a name, "" if none exists, or [notRegular].
func (r *run) state(name string) (string, error) {
	info, err := r.root().Lstat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // reading a pipe would not end
		return notRegular, nil
	}
	data, err := r.root().ReadFile(filepath.FromSlash(name))
	return digest(data), err
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

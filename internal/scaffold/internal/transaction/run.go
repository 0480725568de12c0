package transaction

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// own is slipway's folder in the project. Pending exists in it while a run does.
const (
	slipwayFolder = ".slipway"
	pending       = slipwayFolder + "/pending"
)

// A File is one change. Paths use slashes and are relative to the folder.
type File struct {
	Path   string
	Exists bool
	Before []byte // content at the time of planning
	After  []byte
	Delete bool
	Mode   fs.FileMode // of a new file; 0 is 0644. An existing file keeps its own.
	// From is the present path of a file to rename to Path, which must not exist. Before is its content, which does not
	// change.
	From string
}

// Run makes all changes or none. It removes folders that a deletion leaves empty, and follows links that stay in the
// folder.
func Run(disk Disk, root string, key Key, files []File) error {
	if len(files) == 0 {
		return nil
	}
	r, err := open(disk, root, key)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.prepare(files); err != nil {
		return r.abandon(err)
	}
	if err := r.commit(files); err != nil {
		if _, stuck := r.rollback(); stuck != nil {
			return &StuckError{Cause: err, Err: stuck}
		}
		return err
	}
	r.finish()
	return nil
}

// run is a run, or what a killed one left.
type run struct {
	disk     Disk
	folder   *safefs.Folder
	key      Key
	identity string
	journal  journal
	made     bool // pending was made by this run
}

func open(disk Disk, root string, key Key) (*run, error) {
	folder, err := safefs.OpenFolder(root)
	if err != nil {
		return nil, &FileError{Path: ".", Err: err}
	}
	r := &run{disk: disk, folder: folder, key: key}
	if _, r.identity, err = Identity(folder.Root()); err != nil {
		return nil, errors.Join(&FileError{Path: ".", Err: err}, folder.Close())
	}
	if len(key) == 0 {
		r.key = make(Key, keySize)
		_, err = rand.Read(r.key)
	}
	return r, err
}

func (r *run) close() { _ = r.folder.Close() } // nothing was written through this handle

func (r *run) root() *os.Root { return r.folder.Root() }

// kept returns the name of the i-th file's "new" or "old" content in the pending folder.
func kept(i int, what string) string { return pending + "/" + strconv.Itoa(i) + "." + what }

// prepare writes everything that the run needs, the journal last.
func (r *run) prepare(files []File) error {
	if err := r.makePending(); err != nil {
		return err
	}
	for i, f := range files {
		if err := r.stage(i, f); err != nil {
			return err
		}
	}
	for i, f := range files { // last, since staging takes time
		e := r.journal.Files[i]
		check := func() error { return r.checkUnchanged(e.Target, f) }
		if f.From != "" {
			check = func() error { return r.checkMove(e.Source, e.Target, f) }
		}
		if err := check(); err != nil {
			return err
		}
	}
	if err := r.writeJournal(); err != nil {
		return &FileError{Path: pending, Write: true, Err: err}
	}
	return nil
}

func (r *run) makePending() error {
	err := r.disk.Mkdir(r.root(), slipwayFolder)
	switch {
	case err == nil:
		r.journal.Dirs = append(r.journal.Dirs, slipwayFolder)
	case !errors.Is(err, fs.ErrExist):
		return &FileError{Path: slipwayFolder, Write: true, Err: err}
	case !r.isFolder(slipwayFolder):
		return &FileError{Path: slipwayFolder, Write: true, Err: errLinked}
	}
	if err := r.disk.Mkdir(r.root(), pending); err != nil {
		return &FileError{Path: pending, Write: true, Err: err}
	}
	r.made = true
	if err := r.disk.WriteFile(r.root(), ownerFile, []byte(r.owner()), 0o600); err != nil {
		return &FileError{Path: pending, Write: true, Err: err}
	}
	return nil
}

// stage writes the new content of a file and a copy of the old one into the pending folder.
func (r *run) stage(i int, f File) error {
	target, err := r.folder.Resolve(f.Path) // a link stays a link
	if err != nil {
		return &FileError{Path: f.Path, Write: true, Err: err}
	}
	if f.From != "" {
		return r.stageMove(target, f)
	}
	mode := cmp.Or(f.Mode, 0o644)
	if info, err := r.root().Lstat(filepath.FromSlash(target)); err == nil {
		mode = info.Mode().Perm()
	}
	r.add(target, mode, f)
	if !f.Delete {
		if err := r.disk.WriteFile(r.root(), kept(i, "new"), f.After, mode); err != nil {
			return &FileError{Path: f.Path, Write: true, Err: err}
		}
	}
	if f.Exists && !f.Delete { // a deleted file is moved there
		if err := r.disk.WriteFile(r.root(), kept(i, "old"), f.Before, mode); err != nil {
			return &FileError{Path: f.Path, Write: true, Err: err}
		}
	}
	return nil
}

// stageMove writes nothing: the renamed file is its own backup.
func (r *run) stageMove(target string, f File) error {
	source, err := r.folder.Resolve(f.From)
	if err != nil {
		return &FileError{Path: f.From, Write: true, Err: err}
	}
	r.addMove(target, source, f)
	return nil
}

// checkMove refuses a file that changed since its move was planned, and a new path that exists.
func (r *run) checkMove(source, target string, f File) error {
	if err := r.checkUnchanged(source, File{Path: f.From, Exists: true, Before: f.Before}); err != nil {
		return err
	}
	if _, err := r.root().Lstat(filepath.FromSlash(target)); !errors.Is(err, fs.ErrNotExist) {
		return &ChangedError{Path: f.Path}
	}
	return nil
}

// checkUnchanged refuses a file that changed since it was planned.
func (r *run) checkUnchanged(target string, f File) error {
	data, err := r.read(target)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &FileError{Path: f.Path, Err: err}
	}
	if (err == nil) != f.Exists || !bytes.Equal(data, f.Before) {
		return &ChangedError{Path: f.Path}
	}
	return nil
}

// read reads a file. It refuses pipes and devices, which may never end.
func (r *run) read(name string) ([]byte, error) {
	name = filepath.FromSlash(name)
	if info, err := r.root().Lstat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() { // reading a folder says what it is
		return nil, errNoFile
	}
	return r.root().ReadFile(name)
}

// commit makes the changes. Renaming the journal makes them final.
func (r *run) commit(files []File) error {
	for _, dir := range r.journal.Dirs {
		if err := r.disk.Mkdir(r.root(), dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return &FileError{Path: dir, Write: true, Err: err}
		}
	}
	for i, f := range files {
		if err := r.applyFile(i, f); err != nil {
			return &FileError{Path: f.Path, Write: true, Err: err}
		}
	}
	if err := r.disk.Rename(r.root(), journalFile, doneFile); err != nil {
		return &FileError{Path: journalFile, Write: true, Err: err}
	}
	return nil
}

func (r *run) applyFile(i int, f File) error {
	e := r.journal.Files[i]
	switch {
	case f.From != "":
		return r.moveAway(e.Source, e.Target)
	case f.Delete:
		return r.moveAway(e.Target, kept(i, "old"))
	}
	return r.move(kept(i, "new"), e.Target)
}

// moveAway is [run.move], but removes the original that a move to another disk leaves.
func (r *run) moveAway(from, to string) error {
	if err := r.move(from, to); err != nil {
		return err
	}
	if _, err := r.root().Lstat(filepath.FromSlash(from)); err == nil {
		return r.disk.Remove(r.root(), from)
	}
	return nil
}

// move renames a file. If the new path is on another disk, mounted in the folder, it copies the file.
func (r *run) move(from, to string) error {
	err := r.disk.Rename(r.root(), from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	data, err := r.read(from)
	if err != nil {
		return err
	}
	info, err := r.root().Lstat(filepath.FromSlash(from))
	if err != nil {
		return err
	}
	beside := to + ".slipway"
	_ = r.root().Remove(filepath.FromSlash(beside)) // of a run that was killed here
	if err := r.disk.WriteFile(r.root(), beside, data, info.Mode().Perm()); err != nil {
		return err
	}
	return r.disk.Rename(r.root(), beside, to)
}

// abandon removes what prepare wrote, and returns the cause.
func (r *run) abandon(cause error) error {
	if r.made { // and is not that of another run
		r.clear()
	}
	r.removeDirs()
	return cause
}

func (r *run) entries() ([]fs.DirEntry, error) { return fs.ReadDir(r.root().FS(), pending) }

// clear removes the pending folder, the owner's file last. What cannot be removed is harmless without a journal: the
// next Recover recognizes it by the owner's file and tries again.
func (r *run) clear() {
	entries, err := r.entries()
	if err != nil {
		return
	}
	for _, e := range entries {
		if name := pending + "/" + e.Name(); name != ownerFile {
			err = errors.Join(err, r.disk.Remove(r.root(), name))
		}
	}
	if err != nil {
		return
	}
	_ = r.disk.Remove(r.root(), ownerFile)
	_ = r.disk.Remove(r.root(), pending)
	_ = r.disk.Remove(r.root(), slipwayFolder) // stays unless it is empty
}

// removeDirs removes the folders that the run created, innermost first. Folders that are no longer empty stay.
func (r *run) removeDirs() {
	for _, dir := range slices.Backward(r.journal.Dirs) {
		if r.isFolder(dir) {
			_ = r.disk.Remove(r.root(), dir)
		}
	}
}

func (r *run) finish() {
	r.prune()
	r.clear()
}

// prune removes folders that deletions left empty. A folder that stays is harmless.
func (r *run) prune() {
	for _, f := range r.journal.Files {
		gone := f.Target
		switch {
		case f.From != "":
			gone = f.Source
		case f.After != "":
			continue
		}
		for dir := path.Dir(gone); dir != "." && r.pruned(dir); {
			dir = path.Dir(dir)
		}
	}
}

// pruned removes a folder if it is empty, and reports whether it is gone. A run that was killed here may have removed
// it already.
func (r *run) pruned(dir string) bool {
	err := r.disk.Remove(r.root(), dir)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

func outside(err error) bool {
	_, ok := errors.AsType[*safefs.OutsideError](err)
	return ok
}

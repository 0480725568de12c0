package safefs

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Staged is a file's new content, complete beside the file that it will replace.
type Staged struct {
	folder     *Folder
	temp, name string
}

// WriteFile replaces a file, or makes it with the folders that are missing for it. A reader meets the old content or
// the new one.
func (f *Folder) WriteFile(name string, content []byte) error {
	s, err := f.Stage(name, content)
	if err != nil {
		return err
	}
	defer s.Discard()
	return s.Place()
}

// Stage writes a file's new content beside it. A file that is there keeps its permissions; a new one is for all to
// read.
func (f *Folder) Stage(name string, content []byte) (*Staged, error) {
	name, err := f.Resolve(name)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o644)
	if info, err := f.root.Lstat(filepath.FromSlash(name)); err == nil {
		mode = info.Mode().Perm()
	}
	if dir := path.Dir(name); dir != "." {
		if err := f.root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return nil, err
		}
	}
	s := &Staged{folder: f, temp: path.Join(path.Dir(name), ".slipway-"+rand.Text()), name: name}
	file, err := f.root.OpenFile(filepath.FromSlash(s.temp), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode), file.Close()); err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// Place replaces the file.
func (s *Staged) Place() error {
	return s.folder.root.Rename(filepath.FromSlash(s.temp), filepath.FromSlash(s.name))
}

// Discard removes the content if it was not placed.
func (s *Staged) Discard() {
	_ = s.folder.root.Remove(filepath.FromSlash(s.temp)) // gone already where it was renamed
}

// Remove removes a file, or a folder that is empty. If name is a link, it removes the link alone.
func (f *Folder) Remove(name string) error {
	dir, err := f.Resolve(path.Dir(name))
	if err != nil {
		return err
	}
	return f.root.Remove(filepath.FromSlash(path.Join(dir, path.Base(name))))
}

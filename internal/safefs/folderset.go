package safefs

import (
	"errors"
	"path/filepath"
	"slices"
)

// A FolderSet is several folders below which may be written.
type FolderSet []*Folder

// OpenFolders opens folders.
func OpenFolders(paths ...string) (FolderSet, error) {
	var s FolderSet
	for _, path := range paths {
		f, err := OpenFolder(path)
		if err != nil {
			s.Close()
			return nil, err
		}
		s = append(s, f)
	}
	return s, nil
}

// Close ends the use of the folders.
func (s FolderSet) Close() {
	for _, f := range s {
		_ = f.Close() // nothing was written through the folder's own handle
	}
}

// Has reports whether an absolute path is below one of the folders, links not followed.
func (s FolderSet) Has(full string) bool {
	return slices.ContainsFunc(s, func(f *Folder) bool {
		_, below := f.Below(full)
		return below
	})
}

// Find returns the folder that an absolute path lies below, and its name there: where links of one folder lead to
// another one, that. The error for a path that is below none is the [OutsideError] of the first folder.
func (s FolderSet) Find(full string) (*Folder, string, error) {
	var first error
	for range len(s) + 1 { // from each folder to the next, and no further
		f, name, err := s.below(full)
		if err == nil {
			return f, name, nil
		}
		if first == nil {
			first = err
		}
		out, ok := errors.AsType[*OutsideError](err)
		if !ok || out.Git || out.Leads == full {
			break
		}
		full = out.Leads
	}
	return nil, "", first
}

// below follows the links of the folder that the path is below.
func (s FolderSet) below(full string) (*Folder, string, error) {
	for _, f := range s {
		if name, ok := f.Below(full); ok {
			name, err := f.Resolve(name)
			return f, name, err
		}
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil && real != filepath.Dir(full) {
		return nil, "", &OutsideError{Path: full, Leads: filepath.Join(real, filepath.Base(full)), Folder: s[0].Path()}
	}
	return nil, "", &OutsideError{Path: full, Leads: full, Folder: s[0].Path()}
}

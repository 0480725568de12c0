package setupenvtest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// names are the programs that envtest starts.
var names = []string{"etcd", "kube-apiserver", "kubectl"}

// markerName is a file that tells our folders from others.
const markerName = ".slipway"

// marker is what that file holds.
type marker struct {
	Note     string            `json:"note"`
	Programs map[string]string `json:"programs"` // name → what it is a link to, or a copy of
}

const markerNote = "made and updated by slipway setup-envtest"

// programs finds what the names are to be linked to, in a folder of links to it.
func programs(folder string) (map[string]string, error) {
	found := make(map[string]string, len(names))
	for _, name := range names {
		path, err := filepath.EvalSymlinks(filepath.Join(folder, fileName(name)))
		if err != nil {
			return nil, err
		}
		found[name] = path
	}
	return found, nil
}

func fileName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// readMarker reports whether the folder is ours, and what it was linked to.
func readMarker(folder string) (m marker, ours bool) {
	text, err := safefs.ReadFile(filepath.Join(folder, markerName)) // which a repository may have
	if err != nil {
		return m, false
	}
	return m, json.Unmarshal(text, &m) == nil
}

// current reports whether the folder is ours and its programs are those given.
func current(folder string, programs map[string]string) bool {
	m, ours := readMarker(folder)
	if !ours || !maps.Equal(m.Programs, programs) {
		return false
	}
	for name, program := range programs {
		if !stands(filepath.Join(folder, fileName(name)), program) {
			return false
		}
	}
	return true
}

// stands reports whether the file at path is program: by a link, or as a copy of it.
func stands(path, program string) bool {
	have, err := os.Stat(path)
	if err != nil {
		return false
	}
	want, err := os.Stat(program)
	return err == nil && (os.SameFile(have, want) || have.Size() == want.Size())
}

// link makes the item's folder one of ours, in which the names are the programs given.
func (s Store) link(i Item, programs map[string]string) error {
	folder := s.Path(i)
	if !s.has(i) {
		made, err := s.linkNew(folder, programs)
		if made || err != nil {
			return err
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil { // the peer's are read-only
		return unusable("cannot replace "+i.String(), folder, err)
	}
	return fillFolder(folder, programs)
}

// linkNew makes a folder that was not there. made is false when another process was faster.
func (s Store) linkNew(folder string, programs map[string]string) (made bool, err error) {
	temp, err := s.prepare()
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(temp) }() // gone when it was renamed
	if err := fillFolder(temp, programs); err != nil {
		return false, err
	}
	err = os.Rename(temp, folder)
	if info, e := os.Stat(folder); err != nil && e == nil && info.IsDir() {
		return false, nil
	}
	if err != nil {
		return false, unusable("cannot make the folder", folder, err)
	}
	return true, nil
}

// fillFolder puts the programs into a folder, each in one step so that who starts one meets the old or the new.
func fillFolder(folder string, programs map[string]string) error {
	for name, program := range programs {
		path := filepath.Join(folder, fileName(name))
		if err := replace(path, func(temp string) error { return standFor(program, temp) }); err != nil {
			return unusable("cannot make "+name, path, err)
		}
	}
	text, err := json.MarshalIndent(marker{markerNote, programs}, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, markerName)
	if err := replace(path, func(temp string) error { return os.WriteFile(temp, append(text, '\n'), 0o644) }); err != nil {
		return unusable("cannot write", path, err)
	}
	return nil
}

// replace has a file made under another name and renames it to path.
func replace(path string, make func(temp string) error) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	temp := filepath.Join(dir, filepath.Base(path))
	if err := make(temp); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// standFor makes path a link to program, or a copy where the system has no links for us.
func standFor(program, path string) error {
	if runtime.GOOS != "windows" && os.Symlink(program, path) == nil {
		return nil
	}
	if os.Link(program, path) == nil {
		return nil
	}
	return copyFile(program, path)
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

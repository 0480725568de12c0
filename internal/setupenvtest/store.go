package setupenvtest

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Store is a folder of programs, by version and platform: DIR/k8s/VERSION-OS-ARCH.
type Store struct {
	Dir string

	items string // the folder of the versions, if it is another one than k8s in Dir
}

// DefaultDir is where the peer keeps its store by default.
func DefaultDir(getenv func(string) string) (string, error) {
	variables, below, name := []string{"XDG_DATA_HOME", "HOME"}, ".local/share", "kubebuilder-envtest"
	switch runtime.GOOS {
	case "windows":
		variables = []string{"LocalAppData"}
	case "darwin", "ios":
		variables, below, name = []string{"", "HOME"}, "Library/Application Support", "io.kubebuilder.envtest"
	}
	for i, variable := range variables {
		if base := getenv(variable); base != "" && variable != "" {
			return filepath.Join(base, []string{"", below}[i], name), nil
		}
	}
	return "", &report.Error{What: "no folder for the programs that envtest starts", Hint: "name a folder with --bin-dir", Code: failed}
}

func (s Store) root() string { return cmp.Or(s.items, filepath.Join(s.Dir, "k8s")) }

// Path is the item's folder, whether it is there or not.
func (s Store) Path(i Item) string { return filepath.Join(s.root(), i.folder()) }

// has reports whether the item's folder is there.
func (s Store) has(i Item) bool {
	info, err := os.Stat(s.Path(i))
	return err == nil && info.IsDir()
}

// List returns the items that match, the newest first.
func (s Store) List(sel Selector, p Platform) ([]Item, error) {
	entries, err := os.ReadDir(s.root())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unusable("cannot read the store", s.root(), err)
	}
	var items []Item
	for _, e := range entries {
		i, ok := parseItem(e.Name())
		if ok && e.IsDir() && sel.Matches(i.Version) && p.matches(i.Platform) {
			items = append(items, i)
		}
	}
	slices.SortFunc(items, compareItems)
	return items, nil
}

// Remove removes the items that match and returns those that it removed, also when it fails.
func (s Store) Remove(sel Selector, p Platform) ([]Item, error) {
	items, err := s.List(sel, p)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(a, b Item) int { return strings.Compare(a.folder(), b.folder()) }) // as the peer tells them
	var removed []Item
	var errs []error
	for _, i := range items {
		if err := removeFolder(s.Path(i)); err != nil {
			errs = append(errs, unusable("cannot remove "+i.String(), s.Path(i), err))
			continue
		}
		removed = append(removed, i)
	}
	return removed, errors.Join(errs...)
}

// removeFolder removes a folder that may be read-only, as the peer makes its own.
func removeFolder(path string) error {
	if err := os.Chmod(path, 0o755); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(path)
}

// prepare makes the store's folder and in it a new, empty one, to be renamed when it is complete.
func (s Store) prepare() (temp string, err error) {
	if err := os.MkdirAll(s.root(), 0o755); err != nil {
		return "", unusable("the store cannot be made", s.root(), err)
	}
	temp, err = os.MkdirTemp(s.root(), ".new-")
	if err != nil {
		return "", unusable("the store cannot be written", s.root(), err)
	}
	return temp, os.Chmod(temp, 0o755)
}

// failed is the exit code of the peer when it cannot do what it is asked for.
const failed = 2

// unusable is a failure in the store's folder.
func unusable(what, path string, err error) error {
	e := &report.Error{What: what, Where: path, Err: err, Hint: "set --bin-dir to a folder that you may write to", Code: failed}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		e.Where, e.Err = p.Path, p.Err
	}
	return e
}

package addon

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// sources has a folder for each add-on.
//
//go:embed all:_sources
var sources embed.FS

const (
	// manifests is the file of the objects that are no definitions. Programs do not depend on it.
	manifests = "manifests.yaml"
	// disguise is what a name ends with in sources that would be the go command's.
	disguise = ".txt"
)

// Version is that of the module, as go.mod has it.
func (a *Addon) Version() string {
	text, err := fs.ReadFile(sources, path.Join("_sources", a.Name, "go.mod"+disguise))
	if err != nil {
		return ""
	}
	file, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return ""
	}
	at := slices.IndexFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == a.module })
	if at < 0 {
		return ""
	}
	return file.Require[at].Mod.Version
}

// files are the sources, by path.
func (a *Addon) files() (map[string][]byte, error) {
	files, from := map[string][]byte{}, path.Join("_sources", a.Name)
	err := fs.WalkDir(sources, from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == manifests {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		files[strings.TrimSuffix(strings.TrimPrefix(name, from+"/"), disguise)] = text
		return err
	})
	return files, err
}

// key names what the sources make: by their content, and by the Go and the machine that it is made with.
func key(files map[string][]byte) string {
	h := sha256.New()
	fmt.Fprintln(h, gocommand.Toolchain(), runtime.GOOS, runtime.GOARCH)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintln(h, name, len(files[name]))
		h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// unpack writes the sources into the cache, into a folder of their own for each content, and returns it with the key.
// What is there is compared: a file that was changed or lost is written again.
func (a *Addon) unpack(getenv func(string) string) (dir, id string, err error) {
	files, err := a.files()
	if err != nil {
		return "", "", fmt.Errorf("read the sources of %s: %w", a.Name, err)
	}
	root, err := userdirs.Cache(getenv)
	if err != nil {
		return "", "", err
	}
	id = key(files)
	dir = filepath.Join(root, "addons", a.Name+"-"+id)
	for name, text := range files {
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			return "", "", unusable(err)
		}
	}
	return dir, id, nil
}

// write makes a file have a content.
func write(file string, text []byte) error {
	if there, err := os.ReadFile(file); err == nil && bytes.Equal(there, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return safefs.WriteCache(file, text, 0o644)
}

// unusable explains a failure to write into the cache.
func unusable(err error) error {
	e := &report.Error{What: "cannot use the cache folder", Err: err, Hint: "use a folder that you may write to; " + userdirs.CacheVariable + " names another one"}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		e.Where, e.Err = p.Path, p.Err
	}
	return e
}

package load

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// ErrNotDownloaded says that go.mod requires modules whose files are not there.
var ErrNotDownloaded = errors.New("not downloaded")

// noteMissing remembers the required module that should hold the package, when
// it is not on this machine.
func (m *modules) noteMissing(importPath string) {
	missing := m.missingModule(importPath)
	if missing == "" {
		return
	}
	m.loader.mu.Lock()
	defer m.loader.mu.Unlock()
	m.loader.missing = append(m.loader.missing, missing)
	m.loader.vendored = m
}

// missingModule is the path of the required module that should hold the package and is not on this machine or, where
// packages are vendored, that of the package if it is listed and not there; else "".
func (m *modules) missingModule(importPath string) string {
	if m.vendor != "" {
		if list, err := m.loader.config.Inputs.ReadFile(m.vendorList()); err == nil && slices.Contains(strings.Split(string(list), "\n"), importPath) {
			return importPath
		}
		return ""
	}
	for prefix := importPath; prefix != "." && prefix != "/"; prefix = path.Dir(prefix) {
		dir, required := m.dirs[prefix]
		if !required || !isBelow(dir, m.loader.env.modcache()) {
			continue // the user's own folder is nothing to download
		}
		if _, err := m.loader.config.Inputs.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return prefix
		}
	}
	return ""
}

// Missing returns an error when packages that were asked for lie in modules which are not on this machine. The findings
// are then of no use.
func (l *Loader) Missing() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.missing) == 0 {
		return nil
	}
	if err := l.homeless(); err != nil {
		return err
	}
	slices.Sort(l.missing)
	l.missing = slices.Compact(l.missing)
	e := &report.Error{What: "required modules are not on this machine: ", Where: "go.mod", Err: ErrNotDownloaded, Next: "go mod download"}
	if m := l.vendored; m != nil && m.vendor != "" {
		e.What, e.Where, e.Next = "the vendor folder lacks packages that it lists: ", "vendor/modules.txt", "go mod vendor"
		if m.work != "" {
			e.Next = "go work vendor"
		}
	}
	e.What += strings.Join(l.missing, ", ")
	return e
}

// homeless returns an error when nothing tells where downloaded modules are: it is not the modules that are missing
// then.
func (l *Loader) homeless() error {
	if filepath.IsAbs(l.env.modcache()) {
		return nil
	}
	_, err := os.UserHomeDir()
	return &report.Error{
		What:  "the folder of downloaded modules is unknown",
		Where: "GOMODCACHE",
		Err:   err,
		Hint:  "set HOME to your home folder, or GOMODCACHE to the folder",
	}
}

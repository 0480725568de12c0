// Package modproxy writes a folder that the go command takes for a proxy of modules: the modules of a commit under a
// version that is not published yet.
//
//	p, err := modproxy.Write(dir, "v0.1.0", t)
//	env = append(env, "GOPROXY="+p.URL())
//
// The zips are those that the go command makes of the tagged commit, so `go install …@v0.1.0` compiles here what it
// compiles for users later.
package modproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/slipway-dev/slipway/release/internal/commit"
)

// Modules are the folders of the modules that are published.
func Modules() []string { return []string{".", "cluster", "operator"} }

// Proxy is such a folder.
type Proxy struct{ Dir string }

// URL is its address.
func (p Proxy) URL() string { return FileURL(p.Dir) }

// FileURL is the address of a folder.
func FileURL(dir string) string {
	path := filepath.ToSlash(dir)
	if path[0] != '/' {
		path = "/" + path // a drive of Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Write packs the modules of t that it has.
func Write(dir, version string, t commit.Commit) (Proxy, error) {
	for _, folder := range Modules() {
		if err := write(dir, version, folder, t); err != nil {
			return Proxy{}, err
		}
	}
	return Proxy{dir}, nil
}

// errNoModule is that a folder has no go.mod.
var errNoModule = errors.New("no module in this folder of the commit")

// write packs one module.
func write(dir, version, folder string, t commit.Commit) error {
	files := t.Module(folder)
	for _, f := range files {
		if f.Path() != "go.mod" {
			continue
		}
		text, _ := t.File(filepath.ToSlash(filepath.Join(folder, "go.mod")))
		return pack(dir, module.Version{Path: modfile.ModulePath(text), Version: version}, t.Date, text, files)
	}
	return fmt.Errorf("%s: %w", folder, errNoModule)
}

// pack writes the files by which a proxy knows a version of a module.
func pack(dir string, m module.Version, date time.Time, goMod []byte, files []zip.File) error {
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.Version, date})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"list": []byte(m.Version + "\n"), m.Version + ".info": info, m.Version + ".mod": goMod} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return archive(filepath.Join(dir, m.Version+".zip"), m, files)
}

// archive writes a module's zip.
func archive(path string, m module.Version, files []zip.File) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(zip.Create(f, m, files), f.Close()); err != nil {
		return fmt.Errorf("pack %s: %w", m, err)
	}
	return nil
}

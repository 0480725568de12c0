package codegen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/report"
)

const (
	slipway     = "github.com/slipway-dev/slipway"
	name        = "slipway-codegen"
	mainPackage = slipway + "/cmd/" + name
)

// Finder finds the program, and builds it when there is none. It looks at
// SLIPWAY_CODEGEN, beside slipway's own executable, and in the user's cache
// folder (SLIPWAY_CACHE), where a program is kept under a key of its sources.
type Finder struct {
	getenv  func(string) string
	handler report.Handler

	executable func() (string, error) // slipway's own path
	recorded   string                 // root of the sources that slipway was built from, if known
	version    string                 // of slipway's module, if it has one
}

// NewFinder returns a finder for the running process. Handler learns of a build,
// which takes a while.
func NewFinder(getenv func(string) string, handler report.Handler) *Finder {
	return &Finder{getenv: getenv, handler: handler, executable: os.Executable, recorded: recordedRoot(), version: moduleVersion()}
}

// Program returns the path of the program, which is built if need be.
func (f *Finder) Program(ctx context.Context) (string, error) {
	if path := f.getenv("SLIPWAY_CODEGEN"); path != "" {
		return path, named(path)
	}
	if path, ok := f.neighbour(); ok {
		return path, nil
	}
	src, err := f.source()
	if err != nil {
		return "", err
	}
	key, err := src.key()
	if err != nil {
		return "", fmt.Errorf("read the sources of %s: %w", name, err)
	}
	cache, err := f.cacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "codegen", key, fileName())
	if isFile(path) {
		return path, nil
	}
	return path, f.build(ctx, src, path)
}

func named(path string) error {
	if isFile(path) {
		return nil
	}
	return &report.Error{What: "SLIPWAY_CODEGEN names no program", Where: path,
		Hint: "the " + name + " of this slipway's version; unset SLIPWAY_CODEGEN to let slipway find or build it"}
}

// neighbour looks beside slipway's own executable, where release archives have it.
func (f *Finder) neighbour() (string, bool) {
	own, err := f.executable()
	if err != nil {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	path := filepath.Join(filepath.Dir(own), fileName())
	return path, isFile(path)
}

func (f *Finder) cacheDir() (string, error) {
	if dir := f.getenv("SLIPWAY_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", &report.Error{What: "no place to keep " + name, Err: err, Hint: "set SLIPWAY_CACHE to a folder of yours"}
	}
	return filepath.Join(dir, "slipway"), nil
}

func fileName() string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// source is what the program can be built from: slipway's sources, or else a
// version of its module.
type source struct{ dir, version string }

func (f *Finder) source() (source, error) {
	if root := f.getenv("SLIPWAY_SOURCE"); root != "" {
		if !holdsSlipway(root) {
			return source{}, &report.Error{What: "SLIPWAY_SOURCE is not a folder with slipway's sources", Where: root, Hint: "a checkout of " + slipway}
		}
		root, err := filepath.Abs(root)
		return source{dir: root}, err
	}
	if f.recorded != "" && holdsSlipway(f.recorded) {
		return source{dir: f.recorded}, nil
	}
	if f.version != "" {
		return source{version: f.version}, nil
	}
	return source{}, &report.Error{What: name + " cannot be found, nor built",
		Hint: "slipway knows neither the folder of its own sources nor its version: set SLIPWAY_SOURCE to a checkout of " + slipway +
			", or SLIPWAY_CODEGEN to a " + name + " program"}
}

func holdsSlipway(root string) bool {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	return err == nil && modfile.ModulePath(text) == slipway
}

// folders hold the program's own sources, below the root.
var folders = []string{"cmd/" + name, "internal/codegen", "internal/codegen/kubernetes", "internal/report"}

// key names what is built from src for this machine: a hash over the sources and
// the versions of dependencies, or else the version.
func (src source) key() (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH, src.version)
	if src.dir == "" {
		return hex.EncodeToString(h.Sum(nil)[:16]), nil
	}
	files := []string{"go.mod", "go.sum"}
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(src.dir, filepath.FromSlash(folder), "*.go"))
		if err != nil {
			return "", err
		}
		for _, path := range found {
			if !strings.HasSuffix(path, "_test.go") {
				files = append(files, folder+"/"+filepath.Base(path))
			}
		}
	}
	slices.Sort(files)
	for _, file := range files {
		if err := hashFile(h, src.dir, file); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// hashFile adds the name, the length and the content of a file to h.
func hashFile(h io.Writer, dir, file string) error {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(h, file, len(text))
	_, err = h.Write(text)
	return err
}

// recordedRoot is the root of the sources that this process was built from, as
// the compiler recorded it; empty when it was told not to (-trimpath).
func recordedRoot() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file))) // internal/codegen/finder.go
}

// moduleVersion is the version that slipway was installed at; empty for one that
// was built from a working copy.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != slipway || module.CanonicalVersion(info.Main.Version) != info.Main.Version {
		return ""
	}
	return info.Main.Version
}

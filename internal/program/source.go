package program

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/report"
)

// clusterModule is the module of the cluster program and the checker.
const clusterModule = Module + "/cluster"

// source is where a program can be built from: the folder of its module, or else a version of
// that module.
type source struct {
	dir     string
	version string
	// toolchain is the Go that programs of a release are made with; "" is the one on PATH.
	toolchain string
}

// source finds what to build p from.
func (f *Finder) source(p *product) (source, error) {
	if root := f.Getenv("SLIPWAY_SOURCE"); root != "" {
		return p.named(root)
	}
	if f.recorded != "" && p.holds(f.recorded) {
		return source{dir: filepath.Join(f.recorded, p.folder)}, nil
	}
	if f.version != "" {
		return f.ownVersion(), nil
	}
	return source{}, &report.Error{What: p.what + " cannot be found or built",
		Hint: "slipway does not know the folder of its sources or its version: set SLIPWAY_SOURCE to a checkout of " + Module +
			", or " + p.variable + " to a " + p.last() + " program"}
}

// ownVersion is slipway's own version. Programs of a release are the same for all: whichever Go a user has, those that
// were downloaded or compiled once stay.
func (f *Finder) ownVersion() source {
	src := source{version: f.version}
	if f.stamp.PublicKey != "" {
		src.toolchain = runtime.Version()
	}
	return src
}

// named returns the sources in the checkout that the user named.
func (p *product) named(root string) (source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return source{}, err
	}
	if !p.holds(root) {
		return source{}, &report.Error{What: "SLIPWAY_SOURCE is not a folder with slipway's sources", Where: root,
			Hint: "name a checkout of " + Module + ", with go.mod and cluster/go.mod"}
	}
	return source{dir: filepath.Join(root, p.folder)}, nil
}

// holds tells whether root is a checkout of slipway that has the product's module.
func (p *product) holds(root string) bool {
	return holdsModule(root, Module) && holdsModule(filepath.Join(root, p.folder), p.module)
}

// holdsModule tells whether dir is the root of the module called path.
func holdsModule(dir, path string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(text) == path
}

// recordedRoot returns the root of the sources that this process was built
// from, as the compiler recorded it; empty when it was told not to (-trimpath).
func recordedRoot() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	const depth = 3 // internal/program/source.go
	for range depth {
		file = filepath.Dir(file)
	}
	return file
}

// moduleVersion returns the version that slipway was installed at; empty for
// one that was built from a working copy.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != Module || module.CanonicalVersion(info.Main.Version) != info.Main.Version {
		return ""
	}
	return info.Main.Version
}

// errNoGo is returned when the go command is needed and absent.
var errNoGo = errors.New("the go command is not on PATH")

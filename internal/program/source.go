package program

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/process"
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
	untrusted := f.stranger()
	switch {
	case f.recorded != "" && untrusted == nil && p.holds(f.recorded):
		return source{dir: filepath.Join(f.recorded, p.folder)}, nil
	case f.version != "" && untrusted != nil:
		f.passOver(f.recorded, untrusted)
		return f.ownVersion(), nil
	case f.version != "":
		return f.ownVersion(), nil
	case untrusted != nil:
		return source{}, notCompiled(untrusted)
	}
	return source{}, &report.Error{What: p.what + " cannot be found or built",
		Hint: "slipway does not know the folder of its sources or its version: set SLIPWAY_SOURCE to a checkout of " + Module +
			", or " + p.instead()}
}

// stranger returns why the folder that slipway was built from is not compiled: it may be gone, and another user have
// made one of its name.
func (f *Finder) stranger() *process.UntrustedError {
	if f.recorded == "" || !isFile(filepath.Join(f.recorded, "go.mod")) {
		return nil
	}
	untrusted, _ := errors.AsType[*process.UntrustedError](process.Trust(f.recorded)) // of other faults reading tells
	return untrusted
}

// notCompiled explains sources that a stranger has a part in.
func notCompiled(err error) error {
	if untrusted, ok := errors.AsType[*process.UntrustedError](err); ok {
		return untrusted.Report("slipway does not compile the sources in " + untrusted.Path)
	}
	return err
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
	if err := process.Trust(root); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return source{}, notCompiled(err)
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

// checkout is the root of the sources that the Makefile stamps: it compiles with -trimpath, as releases are.
var checkout string

// recordedRoot returns the root of the sources that this process was built from, as the Makefile or the compiler
// recorded it; empty if neither did (-trimpath).
func recordedRoot() string {
	if checkout != "" {
		return checkout
	}
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

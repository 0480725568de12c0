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

// clusterModule is the module of the programs.
const clusterModule = Module + "/cluster"

// source is where the program can be built from: a folder with the cluster
// module, or else a version of that module.
type source struct {
	dir     string
	version string
}

// source finds what to build from.
func (f *Finder) source() (source, error) {
	if root := f.Getenv("SLIPWAY_SOURCE"); root != "" {
		return named(root)
	}
	if dir := filepath.Join(f.recorded, "cluster"); f.recorded != "" && holdsModule(f.recorded, Module) && holdsModule(dir, clusterModule) {
		return source{dir: dir}, nil
	}
	if f.version != "" {
		return source{version: f.version}, nil
	}
	return source{}, &report.Error{What: "the cluster program cannot be found, nor built",
		Hint: "slipway knows neither the folder of its own sources nor its version: set SLIPWAY_SOURCE to a checkout of " + Module +
			", or SLIPWAY_CLUSTER to a slipway-cluster program"}
}

// named returns the sources in the checkout that the user named.
func named(root string) (source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return source{}, err
	}
	dir := filepath.Join(root, "cluster")
	if !holdsModule(root, Module) || !holdsModule(dir, clusterModule) {
		return source{}, &report.Error{What: "SLIPWAY_SOURCE is not a folder with slipway's sources", Where: root,
			Hint: "a checkout of " + Module + ", with go.mod and cluster/go.mod"}
	}
	return source{dir: dir}, nil
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
	const depth = 4 // internal/clusterctl/program/source.go
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

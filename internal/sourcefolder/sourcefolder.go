// Package sourcefolder knows folders of a repository in which there is nothing of the project's own, so that every walk
// passes over the same ones.
//
//	if entry.IsDir() && dir != root && (sourcefolder.WithoutCode(entry.Name()) || sourcefolder.IsModule(dir)) {
//		return fs.SkipDir
//	}
//
// Its functions are about folders below the one that a walk begins at, which may have any name.
package sourcefolder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// PassedOverByGo reports whether the patterns of the go command, such as ./..., leave out what is below folders of this
// name.
func PassedOverByGo(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor"
}

// Downloaded reports whether folders of this name are modules in a module cache, such as cobra@v1.9.1: a cache may be
// below the project. No import path has such a name in it.
func Downloaded(name string) bool { return strings.Contains(name, "@v") }

// WithoutCode reports whether folders of this name have no Go code of the project. Packages of npm may have some, which
// the go command does not know for what it is.
func WithoutCode(name string) bool {
	return PassedOverByGo(name) || Downloaded(name) || name == "node_modules"
}

// WithoutConfiguration reports whether folders of this name have no configuration that the project deploys. The
// Makefiles of kubebuilder put tools into bin, and some of these come with manifests.
func WithoutConfiguration(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "node_modules", "testdata", "vendor"}, name)
}

// IsModule reports whether a module of Go begins at the folder, by the rule of the go command: go.mod is a file, or
// leads to one.
func IsModule(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && !info.IsDir()
}

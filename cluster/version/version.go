// Package version says which Kubernetes this program embeds and which version
// the program itself is.
//
// The staging modules of Kubernetes do not know their own version when they are
// used as libraries: the release build sets it with linker flags, and without it
// an API server reports v0.0.0-master. [Stamp] sets it from inside, so that a
// plain `go build` or `go install` gives a correct program.
package version

import (
	"fmt"
	"runtime/debug"
	_ "unsafe" // for go:linkname

	component "k8s.io/component-base/version"
)

// Kubernetes is the embedded version. It equals the version of k8s.io/kubernetes
// in go.mod, which a test checks.
const Kubernetes = "1.37.1"

// gitVersion is the variable that Kubernetes' release build sets by linker flag.
//
//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

// Stamp makes the embedded components report [Kubernetes]. It is called once,
// before any of them starts.
func Stamp() error {
	gitVersion = "v" + Kubernetes
	if err := component.SetDynamicVersion(gitVersion); err != nil {
		return fmt.Errorf("set the Kubernetes version: %w", err)
	}
	return nil
}

// Program is the version of the module that this program was built from, or
// "devel" when it was built from a source tree.
func Program() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

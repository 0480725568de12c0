package program

import (
	"context"
	"path/filepath"
)

// checkName is the file name of the checker of CRDs, without its extension.
const checkName = "slipway-check"

// EnsureChecker finds the slipway-check program, in SLIPWAY_CHECK, beside slipway's own executable or in the cache, or
// builds it, which takes a minute or two when nothing of it is compiled.
func (f *Finder) EnsureChecker(ctx context.Context) (path string, err error) {
	return f.ensure(ctx, checkProduct())
}

// BuildChecker is the command that builds the checker by hand.
func (f *Finder) BuildChecker() string { return f.command(checkProduct()) }

// CheckerID names the state of the checker: who remembers its answers needs new ones when the name changes. It does not
// need the program to be there.
func (f *Finder) CheckerID() string { return f.id(checkProduct()) }

// The file names of the program of real nodes, and of the one beside it that containers begin with, without their
// extensions.
const (
	nodeName      = "slipway-node"
	containerName = "slipway-container"
)

// NodePath is where the slipway-node program is, or where it will be once it is built; empty if that cannot be
// reported.
func (f *Finder) NodePath() string { return f.place(nodeProduct()) }

// ContainerPath is where the slipway-container program is or will be, which also removes what real nodes leave; empty
// if that cannot be reported.
func (f *Finder) ContainerPath() string {
	node := f.NodePath()
	if node == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(node), containerName)
}

// EnsureNode finds the slipway-node program, as EnsureChecker finds the checker, or builds it with the one beside it.
func (f *Finder) EnsureNode(ctx context.Context) (path string, err error) {
	return f.ensure(ctx, nodeProduct())
}

// codegenName is the file name of the generators of clients, without its extension.
const codegenName = "slipway-codegen"

// EnsureCodegen finds the slipway-codegen program, as EnsureChecker finds the checker, or builds it.
func (f *Finder) EnsureCodegen(ctx context.Context) (path string, err error) {
	return f.ensure(ctx, codegenProduct())
}

// EnsureCodegenOf finds or builds the program with the generators of the version that k8s.io/code-generator has there:
// the code that they write needs a client-go of about the same one.
func (f *Finder) EnsureCodegenOf(ctx context.Context, version string) (path string, err error) {
	return f.ensure(ctx, codegenProductOf(version))
}

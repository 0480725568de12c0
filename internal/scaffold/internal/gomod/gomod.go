// Package gomod keeps the modules of a project: what its go.mod and go.sum pin ([Pin], [PinFeature]), which
// module a package belongs to, and that all of them are in the module cache ([Fetch], [Get]).
package gomod

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// File is the go.mod that a folder has already.
type File struct{ file *modfile.File }

// Path is the path of the module.
func (m *File) Path() string { return m.file.Module.Mod.Path }

// Requires reports whether the module requires another one, directly or not.
func (m *File) Requires(module string) bool {
	return slices.ContainsFunc(m.file.Require, func(r *modfile.Require) bool { return r.Mod.Path == module })
}

// Read reads the go.mod of a project, or returns nil when there is none.
func Read(files fs.ReadFileFS) (*File, error) { return readIn(files, ".") }

// readIn is that of a folder.
func readIn(files fs.ReadFileFS, dir string) (*File, error) {
	data, err := files.ReadFile(path.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileerror.Unreadable("go.mod", err)
	}
	file, err := modfile.Parse("go.mod", data, nil)
	var syntax modfile.ErrorList
	if errors.As(err, &syntax) && len(syntax) > 0 {
		return nil, &report.Error{
			What: "go.mod cannot be read", Where: fmt.Sprintf("go.mod:%d:%d", syntax[0].Pos.Line, syntax[0].Pos.LineRune),
			Hint: "correct it, or delete it and add --repo", Err: syntax[0].Err,
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	if file.Module == nil {
		return nil, &report.Error{What: "go.mod has no module line", Where: "go.mod:1", Hint: "the first line must name the module", Next: "go mod edit -module example.com/my-operator"}
	}
	return &File{file}, nil
}

// ModuleOf is the module in go.mod that holds a package.
func ModuleOf(files fs.ReadFileFS, pkg string) (string, error) {
	mod, err := Read(files)
	if err != nil || mod == nil {
		return "", err
	}
	longest := ""
	for _, r := range mod.file.Require {
		if (pkg == r.Mod.Path || strings.HasPrefix(pkg, r.Mod.Path+"/")) && len(r.Mod.Path) > len(longest) {
			longest = r.Mod.Path
		}
	}
	if longest != "" {
		return longest, nil
	}
	return "", &report.Error{
		What: fmt.Sprintf("no module in go.mod has the package %s", pkg), Where: "go.mod",
		Hint: "name the module with --external-api-module, such as github.com/cert-manager/cert-manager@v1.18.2; nothing was changed",
		Next: "go get " + shellword.Quote(pkg),
	}
}

// ImportPath is the import path of a folder: that of the module that it is in, which may
// be nested in the project's, and the way from there.
func ImportPath(files fs.ReadFileFS, repo, dir string) (string, error) {
	at, mod, err := nested(files, dir)
	switch {
	case err != nil:
		return "", err
	case mod != nil:
		return path.Join(mod.Path(), strings.TrimPrefix(dir, at)), nil
	}
	return path.Join(repo, dir), nil
}

// NestedFile is the go.mod of the module nested in the project's that a folder is in; "" when it is in the project's.
func NestedFile(files fs.ReadFileFS, dir string) (string, error) {
	at, mod, err := nested(files, dir)
	if err != nil || mod == nil {
		return "", err
	}
	return path.Join(at, "go.mod"), nil
}

// nested is that module, and its folder; nil when there is none.
func nested(files fs.ReadFileFS, dir string) (at string, mod *File, err error) {
	for at := dir; at != "."; at = path.Dir(at) {
		mod, err := readIn(files, at)
		if err != nil {
			return "", nil, fmt.Errorf("in %s: %w", at, err)
		}
		if mod != nil {
			return at, mod, nil
		}
	}
	return "", nil, nil
}

// Package gomod maintains the modules of a project: what its go.mod and go.sum pin ([Pin], [PinFeature]), which module
// has a package ([ModuleOf]), and what is in the module cache ([Fetch], [Get]).
package gomod

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// A File is the go.mod of a project.
type File struct{ file *modfile.File }

// Path is the module's path.
func (m *File) Path() string { return m.file.Module.Mod.Path }

// Read reads the go.mod of a project, or returns nil if there is none.
func Read(files fs.ReadFileFS) (*File, error) {
	data, err := files.ReadFile("go.mod")
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
			Class: report.BadProject,
			What:  "go.mod cannot be read", Where: fmt.Sprintf("go.mod:%d:%d", syntax[0].Pos.Line, syntax[0].Pos.LineRune),
			Hint: "correct it, or delete it and add --repo", Err: syntax[0].Err,
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read go.mod: %w", err)
	}
	if file.Module == nil {
		return nil, &report.Error{Class: report.BadProject, What: "go.mod has no module line", Where: "go.mod:1", Hint: "the first line must name the module", Next: "go mod edit -module example.com/my-operator"}
	}
	return &File{file}, nil
}

// ModuleOf returns the required module that has a package; "" in a project without go.mod.
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
		Class: report.BadProject,
		What:  fmt.Sprintf("no module in go.mod has the package %s", pkg), Where: "go.mod",
		Hint: "name the module with --external-api-module, such as github.com/cert-manager/cert-manager@v1.18.2; nothing was changed",
		Next: "go get " + shellword.Quote(pkg),
	}
}

package typecheck

import (
	"context"
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
)

// A Program is a set of type-checked packages, including the project's packages that they import, without tests. They
// share one set of objects, so a type or function can be compared by identity.
type Program struct {
	Files    *token.FileSet
	Packages []Package
	// Unknown is a sentence that explains why Packages is empty; "" if it is not.
	Unknown string
}

// A Package is a type-checked package of a [Program].
type Package struct {
	Types  *types.Package
	Syntax []*ast.File
	Info   *types.Info
}

// Program checks the packages in the folders dirs of one module as the change leaves them. The error is that of ctx.
func (c Change) Program(ctx context.Context, dirs []string) (Program, error) {
	p, err := c.program(ctx, dirs)
	if ctx.Err() != nil {
		return Program{}, ctx.Err()
	}
	if err != nil {
		return Program{Unknown: err.Error()}, nil
	}
	return p, nil
}

var errSeveral = errors.New("its programs are in several modules")

func (c Change) program(ctx context.Context, dirs []string) (Program, error) {
	module := "."
	for i, dir := range dirs {
		if of := moduleOf(c.After, dir); i == 0 {
			module = of
		} else if of != module {
			return Program{}, errSeveral
		}
	}
	code, err := c.read(c.After, module)
	if errors.Is(err, fs.ErrNotExist) {
		return Program{}, errNoModule
	}
	if err != nil {
		return Program{}, err
	}
	known := c.exports(code)
	if err := known.ready(ctx); err != nil {
		return Program{}, err
	}
	code.settings = known.Settings
	var paths []string
	for _, dir := range dirs {
		if importPath, ok := code.packageAt(dir); ok && code.load(importPath) != nil {
			paths = append(paths, importPath)
		}
	}
	if err := known.find(ctx, code, paths); err != nil {
		return Program{}, err
	}
	k := newChecker(code, known)
	k.program = &Program{Files: code.files}
	for _, importPath := range paths {
		if why := k.declarations(code.load(importPath)).unknown; why != "" {
			return Program{}, errors.New(why)
		}
		if ctx.Err() != nil {
			return Program{}, ctx.Err()
		}
	}
	return *k.program, nil
}

// keep adds a package whose functions were checked.
func (p *Program) keep(files []*file, made *types.Package, info *types.Info) {
	kept := Package{Types: made, Info: info}
	for _, f := range files {
		if f.syntax != nil {
			kept.Syntax = append(kept.Syntax, f.syntax)
		}
	}
	p.Packages = append(p.Packages, kept)
}

func programInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}

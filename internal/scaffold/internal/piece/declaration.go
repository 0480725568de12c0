package piece

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// A Declaration is code at the end of a Go file: a type with its methods, or a function. A file that declares Name has
// it already, even if the rest differs.
type Declaration struct {
	Name string
	Code string
}

// ID implements plan.Piece.
func (d Declaration) ID() string { return "declare " + d.Name }

// Insert implements plan.Piece.
func (d Declaration) Insert(file string, src []byte) ([]byte, error) {
	parsed, _, err := gofile.Parse(file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if declares(parsed, d.Name) {
		return src, nil
	}
	return slices.Concat(bytes.TrimRight(src, "\n"), []byte("\n\n"+d.Code)), nil
}

// Remove implements plan.Piece.
func (d Declaration) Remove(src []byte) ([]byte, int) {
	codes := []string{d.Code}
	if formatted, err := format.Source([]byte(d.Code)); err == nil {
		codes = append(codes, string(formatted))
	}
	for _, code := range codes {
		if before, after, ok := bytes.Cut(src, []byte("\n"+code)); ok {
			return slices.Concat(before, after), 0
		}
	}
	parsed, fset, err := gofile.Parse("", src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	for _, decl := range parsed.Decls {
		if slices.Contains(declared(decl), d.Name) {
			return src, fset.Position(decl.Pos()).Line
		}
	}
	return src, 0
}

func declares(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool { return slices.Contains(declared(d), name) })
}

// declared returns the types and functions that a declaration declares, without methods.
func declared(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var names []string
		for _, s := range d.Specs {
			if t, ok := s.(*ast.TypeSpec); ok {
				names = append(names, t.Name.Name)
			}
		}
		return names
	}
	return nil
}

package gofile

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// Above returns the comments above the declaration of a type, as they are in the file: its doc, and what else stands
// between it and the declaration before. Markers that are about the type are there. A file without the type has none.
func Above(src []byte, name string) []byte {
	file, _ := parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil { // what does not parse has the part before the mistake
		return nil
	}
	after, at := boundsOf(file, name)
	var above []byte
	for _, group := range file.Comments {
		if group.Pos() > after && group.End() < at {
			above = append(append(above, src[group.Pos()-file.FileStart:group.End()-file.FileStart]...), '\n')
		}
	}
	return above
}

// boundsOf are the places between which the comments above a type are: the end of what is declared before it, and the
// type itself, or [token.NoPos].
func boundsOf(file *ast.File, name string) (after, at token.Pos) {
	after = file.Name.End()
	for _, d := range file.Decls {
		types, ok := d.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			after = d.End()
			continue
		}
		for _, spec := range types.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == name {
				return after, spec.Pos()
			}
			after = spec.End()
		}
		after = d.End()
	}
	return after, token.NoPos
}

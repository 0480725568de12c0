package load

import (
	"go/ast"
	"go/token"
	"strconv"
)

// StringConstants are the values of the constants in d's package that are
// declared with d as their type and a string literal, in the order of files and
// lines.
func (d *TypeDecl) StringConstants() []string {
	var values []string
	for _, f := range d.Package.filesWithConstants() {
		for _, decl := range f.Syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				values = append(values, d.literalsOf(f, spec.(*ast.ValueSpec))...)
			}
		}
	}
	return values
}

func (d *TypeDecl) literalsOf(f *File, spec *ast.ValueSpec) []string {
	if spec.Type == nil || f.Type(spec.Type) != d.named {
		return nil
	}
	var values []string
	for _, v := range spec.Values {
		literal, ok := v.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		if text, err := strconv.Unquote(literal.Value); err == nil {
			values = append(values, text)
		}
	}
	return values
}

// filesWithConstants are the files of interest and those that may declare
// constants besides.
func (p *Package) filesWithConstants() []*File {
	p.consts.Do(func() {
		parsed := make(map[string]*File)
		for _, f := range p.Files() {
			parsed[f.Path] = f
		}
		p.constFiles = p.parseSources(func(s *source) bool { return s.constants && parsed[s.path] == nil })
		p.constFiles = append(p.constFiles, p.files...)
	})
	return p.constFiles
}

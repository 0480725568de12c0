package relocate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// A SyntaxError reports a Go file that must be rewritten and cannot be parsed.
type SyntaxError struct{ Mistake }

func (e *SyntaxError) Error() string { return e.Position + ": " + e.Problem }

// ErrDotImport reports a dot import of a package that is divided.
var ErrDotImport = errors.New("the package is imported under the name . and is divided")

// Go rewrites a Go file, which is at the path file now and becomes target.
func (s *Set) Go(file string, target Target, src []byte) ([]byte, error) {
	if target.part == nil && !s.concerns(src) {
		return src, nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		var list scanner.ErrorList
		if errors.As(err, &list) && len(list) > 0 {
			err = list[0]
		}
		return nil, &SyntaxError{syntaxMistake(file, err)}
	}
	r := &rewriting{set: s, file: parsed, tokens: fset.File(parsed.FileStart), path: file, target: target, src: src}
	if err := r.imports(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r.comments()
	if target.part != nil {
		r.packageClause()
		r.relativePaths()
	}
	return r.apply(), nil
}

func (s *Set) concerns(src []byte) bool {
	return slices.ContainsFunc(s.Packages, func(p *Package) bool { return bytes.Contains(src, []byte(p.Import)) })
}

type rewriting struct {
	set    *Set
	file   *ast.File
	tokens *token.File
	path   string
	target Target
	src    []byte
	edits  []edit
}

// An edit replaces src[from:to].
type edit struct {
	from, to int
	text     string
}

// replace replaces the source between two positions.
func (r *rewriting) replace(from, to token.Pos, text string) {
	r.edits = append(r.edits, edit{r.tokens.Offset(from), r.tokens.Offset(to), text})
}

func (r *rewriting) apply() []byte {
	slices.SortStableFunc(r.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, e := range r.edits {
		out.Write(r.src[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(r.src[at:])
	return out.Bytes()
}

// packageClause changes the package's name in the clause, and at the beginning of its doc comment.
func (r *rewriting) packageClause() {
	p, name := r.set.packageOf(r.path)
	if strings.Contains(name, "/") || p.Name == r.target.part.Name {
		return
	}
	old := r.file.Name
	test := ""
	if old.Name == p.Name+"_test" {
		test = "_test"
	}
	r.replace(old.Pos(), old.End(), r.target.part.Name+test)
	if r.file.Doc == nil {
		return
	}
	first := r.file.Doc.List[0]
	for _, begin := range []string{"// Package ", "/* Package ", "/*\nPackage "} {
		if strings.HasPrefix(first.Text, begin+p.Name+" ") {
			at := first.Pos() + token.Pos(len(begin))
			r.replace(at, at+token.Pos(len(p.Name)), r.target.part.Name)
		}
	}
}

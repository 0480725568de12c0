package newversion

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
)

// A unit is a part of the old package that the new one gets as a whole: a file, or a declaration of a file that has
// types or methods of other kinds.
type unit struct {
	file     string // its name in the package; "" for the file that registers the types, which is always needed
	declares []string
	methods  []string // receivers of its methods
	uses     []string // names that it does not declare
	typed    []string // types of its constants and variables: these go with their type
	webhook  bool     // it has methods by which the kind is its own webhook
	converts bool     // it has methods that convert the kind
	from, to token.Pos
}

// of reports whether a unit declares a type or has methods of it.
func (u unit) of(kind string) bool {
	return slices.Contains(u.declares, kind) || slices.Contains(u.declares, kind+"List")
}

func with(set map[string]bool, names []string) map[string]bool {
	for _, name := range names {
		set[name] = true
	}
	return set
}

func except(set map[string]bool, names []string) map[string]bool {
	maps.DeleteFunc(set, func(name string, _ bool) bool { return slices.Contains(names, name) })
	return set
}

// readPackage reads the files of a folder, without tests and generated ones.
func (v *planner) readPackage(dir string, pkg codebase.Package) (units []unit, err error) {
	for _, name := range v.Code().GoFilesIn(dir) {
		if strings.HasPrefix(path.Base(name), "zz_generated") {
			continue
		}
		c, err := v.Find(name)
		if err != nil {
			return nil, err
		}
		file, _, err := gofile.Parse(name, c.After(), parser.ParseComments)
		if err != nil {
			return nil, err
		}
		whole := unit{file: path.Base(name), uses: names(file, file)}
		for _, d := range file.Decls {
			whole = whole.describe(d, file, v.old.Kind)
		}
		others := false
		for _, k := range pkg.Kinds {
			others = others || k.Name != v.old.Kind && (k.File == name || slices.Contains(whole.methods, k.Name))
		}
		switch {
		case name == pkg.Registration.File:
			units = append(units, unit{uses: whole.uses})
		case others:
			units = append(units, declarations(path.Base(name), file, v.old.Kind)...)
		default:
			units = append(units, whole)
		}
	}
	return units, nil
}

// names returns the names in a node of a file that are not declared within it.
func names(n ast.Node, file *ast.File) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			all = append(all, names(n.X, file)...)
			return false
		case *ast.Field:
			all = append(all, names(n.Type, file)...)
			return false
		case *ast.FuncDecl:
			if n.Recv != nil { // its name is no declaration
				all = append(all, names(n.Recv, file)...)
				all = append(all, names(n.Type, file)...)
				if n.Body != nil {
					all = append(all, names(n.Body, file)...)
				}
				return false
			}
		case *ast.Ident:
			if n.Obj == nil || file.Scope.Lookup(n.Name) == n.Obj {
				all = append(all, n.Name)
			}
		}
		return true
	})
	return all
}

// declarations are the units of a file that is divided. Constants in a block that count stay together.
func declarations(name string, file *ast.File, kind string) (units []unit) {
	above := file.Name.End()
	for _, decl := range file.Decls {
		begin := beginOf(decl, file, above)
		above = decl.End()
		d, ok := decl.(*ast.GenDecl)
		switch {
		case ok && d.Tok == token.IMPORT:
		case ok && d.Lparen.IsValid() && !slices.Contains(names(d, file), "iota"):
			for _, spec := range d.Specs {
				single := &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{spec}}
				u := unit{file: name, uses: names(spec, file), from: spec.Pos(), to: spec.End()}.describe(single, file, kind)
				if doc := docOf(spec); doc != nil {
					u.from = doc.Pos()
				}
				units = append(units, u)
			}
		default:
			units = append(units, unit{file: name, uses: names(decl, file), from: begin, to: decl.End()}.describe(decl, file, kind))
		}
	}
	return units
}

// beginOf returns where the comments above a declaration begin, which may be apart from it, as markers are.
func beginOf(decl ast.Decl, file *ast.File, above token.Pos) token.Pos {
	for _, comments := range file.Comments {
		if comments.Pos() > above && comments.Pos() < decl.Pos() {
			return comments.Pos()
		}
	}
	return decl.Pos()
}

func docOf(n ast.Node) *ast.CommentGroup {
	switch n := n.(type) {
	case *ast.TypeSpec:
		return n.Doc
	case *ast.ValueSpec:
		return n.Doc
	}
	return nil
}

// These are the methods by which a kind converts itself, or is its own webhook.
var (
	conversions = []string{"Hub", "ConvertTo", "ConvertFrom"}
	webhooks    = []string{"SetupWebhookWithManager", "Default", "ValidateCreate", "ValidateUpdate", "ValidateDelete"}
)

// describe adds what a declaration is.
func (u unit) describe(decl ast.Decl, file *ast.File, kind string) unit {
	u.declares = append(u.declares, relocate.Declarations(&ast.File{Decls: []ast.Decl{decl}})...)
	switch d := decl.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok && value.Type != nil {
				u.typed = append(u.typed, names(value.Type, file)...)
			}
		}
	case *ast.FuncDecl:
		switch {
		case d.Recv == nil && d.Name.Name == "init":
			u.methods = append(u.methods, names(d.Body, file)...) // it registers what it names
		case d.Recv != nil && len(d.Recv.List) == 1:
			receiver := receiverOf(d.Recv.List[0].Type)
			u.methods = append(u.methods, receiver)
			u.converts = u.converts || receiver == kind && slices.Contains(conversions, d.Name.Name)
			u.webhook = u.webhook || receiver == kind && slices.Contains(webhooks, d.Name.Name)
		}
	}
	return u
}

func receiverOf(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiverOf(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// closure says which units a kind needs: its types, what they use, and the methods and constants of all these types.
func closure(units []unit, kind string) (in []bool) {
	in = make([]bool, len(units))
	used, declared := map[string]bool{kind: true, kind + "List": true}, map[string]bool{}
	hits := func(names []string, set map[string]bool) bool {
		return slices.ContainsFunc(names, func(name string) bool { return set[name] })
	}
	for grown := true; grown; {
		grown = false
		for i, u := range units {
			own := hits(u.declares, used)
			if in[i] || u.file != "" && !own && (u.webhook || u.converts || !hits(u.methods, declared) && !hits(u.typed, declared)) {
				continue
			}
			in[i], grown = true, true
			used, declared = with(used, u.uses), with(declared, u.declares)
		}
	}
	return in
}

// trim notes what copies of files leave out.
func (v *planner) trim(units []unit, needed []bool) {
	v.left = map[string][]unit{}
	for i, u := range units {
		if u.from.IsValid() && !needed[i] && slices.Contains(v.copied, u.file) {
			v.left[u.file] = append(v.left[u.file], u)
			v.dropped = append(v.dropped, u.declares...)
		}
	}
}

// trimmed returns the edit that takes out of a copied file what the new version does not need.
func (v *planner) trimmed(name string) func(string, []byte) ([]byte, error) {
	return func(file string, src []byte) ([]byte, error) {
		left := v.left[name]
		parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
		if err != nil || len(left) == 0 {
			return src, err
		}
		before := src
		gone := func(u unit) bool {
			return slices.ContainsFunc(left, func(o unit) bool {
				return o.from == u.from || len(o.declares) > 0 && slices.Equal(o.declares, u.declares) && slices.Equal(o.methods, u.methods)
			})
		}
		for _, u := range slices.Backward(declarations(name, parsed, v.old.Kind)) {
			if gone(u) {
				from, to := fset.Position(u.from).Offset, fset.Position(u.to).Offset
				src = slices.Concat(src[:from], src[to:])
			}
		}
		return gofile.KeepFormat(file, before, withoutUnused(file, src, func(string) bool { return true })), nil
	}
}

// withoutUnused takes out those of some imports that nothing uses, and blocks without declarations.
func withoutUnused(file string, src []byte, which func(imported string) bool) []byte {
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil {
		return src
	}
	used := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, decl := range slices.Backward(parsed.Decls) {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		cut := func(n ast.Node) {
			src = without(src, []span{span{fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset}.line(src)})
		}
		if len(d.Specs) == 0 {
			cut(d)
			continue
		}
		for _, spec := range slices.Backward(d.Specs) {
			s, ok := spec.(*ast.ImportSpec)
			if !ok {
				continue
			}
			imported, _ := strconv.Unquote(s.Path.Value)
			name := path.Base(imported)
			if s.Name != nil {
				name = s.Name.Name
			}
			if version := path.Base(imported); s.Name == nil && len(version) > 1 && version[0] == 'v' && strings.Trim(version[1:], "0123456789") == "" && used[path.Base(path.Dir(imported))] {
				continue // of a major version
			}
			switch {
			case used[name] || name == "_" || name == "." || !which(imported):
			case d.Lparen.IsValid():
				cut(s)
			default:
				cut(d)
			}
		}
	}
	return src
}

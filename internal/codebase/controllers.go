package codebase

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Controller is a type that has a Reconcile method, or a struct whose name ends in Reconciler. The latter may embed
// the type that reconciles.
type Controller struct {
	Type string // name, such as CronJobReconciler
	Dir  string // folder of its package
	File string // declares the type; slash-separated
	Line int
	// Reconciles reports whether the type itself has the method Reconcile.
	Reconciles bool
	// For lists the types in calls such as For(&batchv1.Job{}), found by syntax alone. The calls are in the
	// controller's methods and in the functions of its file.
	For []Controlled
}

// A Controlled is a type whose objects a controller handles.
type Controlled struct {
	Package string // import path; "" for the controller's own package or an unknown one
	Kind    string
	File    string
	Line    int
}

// Where returns "file:line" of the argument of For.
func (c Controlled) Where() string { return report.Position{File: c.File, Line: c.Line}.String() }

// Controllers returns the project's controllers, in the order of folders and files. Files that do not parse are
// skipped. The error is that of [Codebase.Kinds].
func (c *Codebase) Controllers() ([]Controller, error) { return c.controllers() }

// ControlledKinds returns the project's own kinds that have a controller, each once.
func (c *Codebase) ControlledKinds() (kinds []Kind, err error) {
	controllers, err := c.Controllers()
	for _, controller := range controllers {
		for _, of := range controller.For {
			dir, own := strings.CutPrefix(of.Package+"/", c.modulePath()+"/")
			k := c.KindIn(path.Clean(dir), of.Kind)
			if !own || k == nil || !k.Certain || k.Package.Group == "" {
				continue
			}
			if !slices.ContainsFunc(kinds, func(other Kind) bool { return other.Where() == k.Where() }) {
				kinds = append(kinds, *k)
			}
		}
	}
	return kinds, err
}

func (c *Codebase) readControllers() (all []Controller, err error) {
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		r := controllersIn{dir: folder.dir, methods: map[string][]Controlled{}, functions: map[string][]Controlled{}}
		for _, name := range folder.files {
			file := path.Join(folder.dir, name)
			if text, err := c.view.ReadFile(file); err == nil && mayControl(text) {
				r.add(file, text)
			}
		}
		all = append(all, r.finish()...)
	}
	return all, nil
}

// mayControl is a cheap test that spares most files the parser.
func mayControl(text []byte) bool {
	return bytes.Contains(text, []byte(") Reconcile(")) || bytes.Contains(text, []byte("Reconciler struct")) || bytes.Contains(text, []byte("For(&"))
}

// controllersIn collects the controllers of one package.
type controllersIn struct {
	dir       string
	found     []Controller
	methods   map[string][]Controlled // by receiver type
	functions map[string][]Controlled // by file
}

func (r *controllersIn) add(name string, text []byte) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	reading := fileOfControllers{fset, name, ImportsOf(file)}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && strings.HasSuffix(t.Name.Name, "Reconciler") {
					if _, ok := t.Type.(*ast.StructType); ok {
						c := r.controller(t.Name.Name)
						c.File, c.Line = name, fset.Position(t.Pos()).Line
					}
				}
			}
		case *ast.FuncDecl:
			r.function(reading, d)
		}
	}
}

func (r *controllersIn) function(in fileOfControllers, f *ast.FuncDecl) {
	if f.Recv == nil {
		r.functions[in.name] = append(r.functions[in.name], in.controlled(f)...)
		return
	}
	of := receiver(f)
	if of == "" {
		return
	}
	r.methods[of] = append(r.methods[of], in.controlled(f)...)
	if reconciles(f) {
		c := r.controller(of)
		c.Reconciles = true
		if c.File == "" {
			c.File, c.Line = in.name, in.fset.Position(f.Pos()).Line
		}
	}
}

// controller returns the controller of a type. It adds one if there is none. The pointer is valid until the next call.
func (r *controllersIn) controller(of string) *Controller {
	i := slices.IndexFunc(r.found, func(c Controller) bool { return c.Type == of })
	if i < 0 {
		i = len(r.found)
		r.found = append(r.found, Controller{Type: of, Dir: r.dir})
	}
	return &r.found[i]
}

func (r *controllersIn) finish() []Controller {
	for i := range r.found {
		c := &r.found[i]
		c.For = slices.Concat(r.methods[c.Type], r.functions[c.File])
	}
	return r.found
}

// reconciles reports whether f is a Reconcile method whose second parameter is a Request of any package.
func reconciles(f *ast.FuncDecl) bool {
	params := f.Type.Params.List
	if f.Name.Name != "Reconcile" || len(params) != 2 || len(params[0].Names) > 1 || len(params[1].Names) > 1 {
		return false
	}
	request, ok := params[1].Type.(*ast.SelectorExpr)
	return ok && request.Sel.Name == "Request"
}

// receiver returns the name of a method's receiver type, or "" for a generic type.
func receiver(f *ast.FuncDecl) string {
	if len(f.Recv.List) == 0 {
		return ""
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// ImportsOf returns the import paths of a file by local name. An import without an explicit name goes by the last
// element of its path.
func ImportsOf(file *ast.File) map[string]string {
	paths := map[string]string{}
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case spec.Name != nil:
			paths[spec.Name.Name] = target
		default:
			paths[path.Base(target)] = target
		}
	}
	return paths
}

type fileOfControllers struct {
	fset  *token.FileSet
	name  string
	paths map[string]string // import paths by local name
}

// controlled returns the arguments of all For calls in a function.
func (in fileOfControllers) controlled(f *ast.FuncDecl) (all []Controlled) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && isFor(call) {
			if c, ok := in.typeOf(call.Args[0]); ok {
				c.File, c.Line = in.name, in.fset.Position(call.Args[0].Pos()).Line
				all = append(all, c)
			}
		}
		return true
	})
	return all
}

// isFor reports whether a call is For of a controller's builder. A webhook's builder has a For method, too.
func isFor(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "For" || len(call.Args) == 0 {
		return false
	}
	for x := sel.X; ; {
		switch e := x.(type) {
		case *ast.CallExpr:
			x = e.Fun
		case *ast.SelectorExpr:
			if e.Sel.Name == "NewWebhookManagedBy" {
				return false
			}
			x = e.X
		default:
			return true
		}
	}
}

// typeOf returns the type in an argument such as &batchv1.Job{}.
func (in fileOfControllers) typeOf(x ast.Expr) (Controlled, bool) {
	pointer, ok := x.(*ast.UnaryExpr)
	if !ok {
		return Controlled{}, false
	}
	literal, ok := pointer.X.(*ast.CompositeLit)
	if !ok {
		return Controlled{}, false
	}
	switch typ := literal.Type.(type) {
	case *ast.Ident:
		return Controlled{Kind: typ.Name}, true
	case *ast.SelectorExpr:
		if name, ok := typ.X.(*ast.Ident); ok {
			return Controlled{Package: in.paths[name.Name], Kind: typ.Sel.Name}, true
		}
	}
	return Controlled{}, false
}

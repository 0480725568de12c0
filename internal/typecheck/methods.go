package typecheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// objects is the package of the interface runtime.Object, which API types implement by generated methods.
const objects = "k8s.io/apimachinery/pkg/runtime"

// missingMethods returns a file that declares the deep copy methods which the generator will add to the package, or
// nil. Markers select the types. An extra method is harmless: it cannot cause a mistake in code that compiles.
func (p *pkg) missingMethods() *file {
	var types []*ast.TypeSpec
	docs := map[*ast.TypeSpec]string{}
	has, all, name := map[string]bool{}, false, ""
	for _, f := range p.files {
		if f.test || f.syntax == nil {
			continue
		}
		name = f.of
		ofTypes := map[*ast.CommentGroup]bool{}
		for _, decl := range f.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				has[receiver(decl)+"."+decl.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range typesOf(decl) {
					types = append(types, spec)
					docs[spec] = docOf(f.syntax, decl, spec, ofTypes)
				}
			}
		}
		for _, group := range f.syntax.Comments {
			text := textOf(group)
			all = all || !ofTypes[group] && (marked(text, "kubebuilder:object:generate=true") || marked(text, "k8s:deepcopy-gen=package"))
		}
	}
	code, isObject := "", false
	for _, spec := range types {
		object := marked(docs[spec], "kubebuilder:object:root=true") || marked(docs[spec], "k8s:deepcopy-gen:interfaces="+objects+".Object")
		if all || object || marked(docs[spec], "kubebuilder:object:generate=true") || marked(docs[spec], "k8s:deepcopy-gen=true") {
			code += methodsOf(spec.Name.Name, object, has)
			isObject = isObject || object
		}
	}
	if code == "" {
		return nil
	}
	f := &file{name: p.path + " (generated)", of: name, generated: true}
	header := "package " + name + "\n"
	if isObject {
		header += fmt.Sprintf("import generatedRuntime %q\nvar _ generatedRuntime.Object\n", objects)
		f.imports = []string{objects}
	}
	f.src = []byte(header + code)
	return f
}

// methodsOf declares the deep copy methods that a type lacks.
func methodsOf(name string, object bool, has map[string]bool) (code string) {
	for _, method := range []string{"DeepCopyInto(out *" + name + ")", "DeepCopy() *" + name, "DeepCopyObject() generatedRuntime.Object"} {
		called, _, _ := strings.Cut(method, "(")
		if !has[name+"."+called] && (object || called != "DeepCopyObject") {
			code += fmt.Sprintf("func (in *%s) %s\n", name, method)
		}
	}
	return code
}

// typesOf returns the types of a declaration that can have methods, without generic ones.
func typesOf(decl *ast.GenDecl) (types []*ast.TypeSpec) {
	if decl.Tok != token.TYPE {
		return nil
	}
	for _, spec := range decl.Specs {
		t := spec.(*ast.TypeSpec)
		switch t.Type.(type) {
		case *ast.InterfaceType, *ast.StarExpr, *ast.FuncType, *ast.ChanType:
			continue
		}
		if !t.Assign.IsValid() && t.TypeParams == nil {
			types = append(types, t)
		}
	}
	return types
}

// docOf returns the comments above a type. A blank line may separate them from it, as is usual for markers. It records
// them in ofTypes.
func docOf(syntax *ast.File, decl *ast.GenDecl, spec *ast.TypeSpec, ofTypes map[*ast.CommentGroup]bool) (text string) {
	begins, last := decl.Pos(), syntax.Name.End()
	for _, other := range syntax.Decls {
		if other.End() < begins {
			last = max(last, other.End())
		}
	}
	for _, group := range syntax.Comments {
		if group == decl.Doc || group == spec.Doc || last < group.Pos() && group.End() < begins {
			text += textOf(group)
			ofTypes[group] = true
		}
	}
	return text
}

func textOf(group *ast.CommentGroup) (text string) {
	for _, comment := range group.List {
		text += comment.Text + "\n"
	}
	return text
}

// marked reports whether comments contain a marker.
func marked(comments, marker string) bool {
	for line := range strings.Lines(comments) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		if rest, is := strings.CutPrefix(line, "+"+marker); is && (rest == "" || rest[0] == ',') {
			return true
		}
	}
	return false
}

// receiver returns the name of a method's receiver type, or "".
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return ""
	}
	typ := decl.Recv.List[0].Type
	if star, is := typ.(*ast.StarExpr); is {
		typ = star.X
	}
	if ident, is := typ.(*ast.Ident); is {
		return ident.Name
	}
	return ""
}

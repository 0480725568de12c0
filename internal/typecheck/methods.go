package typecheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// objects is the package of the interface that API objects implement by generated methods.
const objects = "k8s.io/apimachinery/pkg/runtime"

// missingMethods declares the methods that the generator of deep copies will add to types of the package, in a file
// that stands for the generated one. It is nil if there are none. Which types get methods follows from markers; a
// method too many does no harm, since that compiles which would not be refused.
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

// methodsOf declares the methods of a type that it does not have.
func methodsOf(name string, object bool, has map[string]bool) (code string) {
	for _, method := range []string{"DeepCopyInto(out *" + name + ")", "DeepCopy() *" + name, "DeepCopyObject() generatedRuntime.Object"} {
		called, _, _ := strings.Cut(method, "(")
		if !has[name+"."+called] && (object || called != "DeepCopyObject") {
			code += fmt.Sprintf("func (in *%s) %s\n", name, method)
		}
	}
	return code
}

// typesOf are the types of a declaration that can have methods, apart from generic ones.
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

// docOf is the text of the comments above a type, of which the last may be apart from it by an empty line, as markers
// are. It notes that they are a type's.
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

// marked reports whether comments have a marker.
func marked(comments, marker string) bool {
	for line := range strings.Lines(comments) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		if rest, is := strings.CutPrefix(line, "+"+marker); is && (rest == "" || rest[0] == ',') {
			return true
		}
	}
	return false
}

// receiver is the name of the type that a method is of.
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

package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCommentsNameWhatTheyDocument: the comment of a function, a method, a type, a variable or a constant begins with
// its name, that of a type perhaps after an article. A test's may be a sentence on what it shows. Fields, methods of
// interfaces and what is declared in a group may be described in other words, but not under another's name. A field of
// an API may go by its name in JSON.
func TestCommentsNameWhatTheyDocument(t *testing.T) {
	folders := map[string][]documented{}
	for _, file := range files(t, ".go") {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(f) {
			folders[path.Dir(file)] = append(folders[path.Dir(file)], declarations(set, f, file)...)
		}
	}
	checked := 0
	for _, all := range folders {
		others := map[string][]string{}
		for _, d := range all {
			others[d.within] = append(others[d.within], d.name)
		}
		for _, d := range all {
			if d.doc != "" {
				checked++
			}
			if first := d.misnamed(others[d.within]); first != "" {
				t.Errorf("%s: the comment of %s begins with %q", d.place, d.name, first)
			}
		}
	}
	if checked < 5000 {
		t.Errorf("checked only %d comments", checked)
	}
}

// documented is a declared name with its comment.
type documented struct {
	place  string // file:line
	name   string
	json   string // the name of a field in JSON, by which documents of APIs call it
	doc    string
	within string // the struct or interface that it belongs to
	strict bool   // begins with its name
	test   bool   // a function that go test runs
	isType bool
}

var (
	firstWord = regexp.MustCompile(`^(\S+?)[:,.;]?(?:\s|$)`)
	article   = regexp.MustCompile(`^(?:An?|The) `)
	testName  = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)(?:[^a-z]|$)`)
)

// misnamed returns the first word of a comment that should be another.
func (d documented) misnamed(others []string) string {
	text := d.doc
	if d.isType {
		text = article.ReplaceAllString(text, "")
	}
	m := firstWord.FindStringSubmatch(text)
	if m == nil || m[1] == d.name || m[1] == d.json {
		return ""
	}
	first := strings.TrimSuffix(m[1], "'s")
	another := slices.Contains(others, first) || strings.EqualFold(first, d.name)
	if d.test {
		another = testName.MatchString(first)
	}
	if first != d.name && (d.strict || another) {
		return m[1]
	}
	return ""
}

// declarations returns what a file declares: at its top level, and in the structs and interfaces there.
func declarations(set *token.FileSet, f *ast.File, file string) []documented {
	var all []documented
	add := func(doc *ast.CommentGroup, d documented, name *ast.Ident) {
		d.name, d.doc = name.Name, doc.Text()
		d.place = file + ":" + strings.TrimPrefix(set.Position(name.Pos()).String(), set.Position(name.Pos()).Filename+":")
		all = append(all, d)
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			test := strings.HasSuffix(file, "_test.go") && testName.MatchString(decl.Name.Name)
			add(decl.Doc, documented{strict: !test, test: test}, decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				specified(decl, spec, add)
			}
		}
	}
	return all
}

// specified adds what one line of a declaration declares. A declaration without parentheses has the comment before the
// keyword.
func specified(decl *ast.GenDecl, spec ast.Spec, add func(*ast.CommentGroup, documented, *ast.Ident)) {
	alone := !decl.Lparen.IsValid()
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		doc := spec.Doc
		if alone {
			doc = decl.Doc
		}
		add(doc, documented{strict: true, isType: true}, spec.Name)
		members(spec, add)
	case *ast.ValueSpec:
		doc := spec.Doc
		if alone {
			doc = decl.Doc
		}
		add(doc, documented{strict: alone}, spec.Names[0])
	}
}

// members adds the fields of a struct and the methods of an interface.
func members(spec *ast.TypeSpec, add func(*ast.CommentGroup, documented, *ast.Ident)) {
	var list *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	for _, field := range list.List {
		if len(field.Names) > 0 {
			add(field.Doc, documented{within: spec.Name.Name, json: jsonName(field.Tag)}, field.Names[0])
		}
	}
}

// jsonName returns the name that a field's tag gives it in JSON.
func jsonName(tag *ast.BasicLit) string {
	if tag == nil {
		return ""
	}
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(tag.Value, "`")).Get("json"), ",")
	return name
}

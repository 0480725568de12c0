package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestWordsStandApart: where a text is put together from parts, as over several lines, no two of its words become one.
func TestWordsStandApart(t *testing.T) {
	set := token.NewFileSet()
	folders := map[string][]*ast.File{}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue // sources and markers are put together there
		}
		syntax, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folders[path.Dir(name)] = append(folders[path.Dir(name)], syntax)
	}
	for _, syntax := range folders {
		for _, pos := range joined(syntax) {
			t.Errorf("%s: the words on both sides of + become one", set.Position(pos))
		}
	}
}

// TestJoined: the rule finds what it is for, and nothing else.
func TestJoined(t *testing.T) {
	for text, want := range map[string]int{
		`var x = "waiting for " + y + " to be gone" + "to be deleted"`: 1,
		`var x = "it is gone." + "It was there"`:                       1,
		"const part = \"reads\"\nvar x = part + \"the rule\"":          1,
		"var x = \"a\" + (\"b\" + y)":                                  0, // no words
		`var x = "it is " + "gone"`:                                    0,
		`var x = "it is gone" + y + "to be"`:                           0,
		`var x = "it is gone\n" + "to be"`:                             0,
		`var x = "put it before ." + "example.com"`:                    0,
		`var x = "gone-" + "to be"`:                                    0,
		"const part = \"reads \"\nvar x = part + \"the rule\"":         0,
	} {
		syntax, err := parser.ParseFile(token.NewFileSet(), "a.go", "package p\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(joined([]*ast.File{syntax})); got != want {
			t.Errorf("%s: found %d, want %d", text, got, want)
		}
	}
}

// joined are the operators of a package that put a word directly behind another one. Parts that are one word each, such
// as a name and its suffix, are no text.
func joined(files []*ast.File) (found []token.Pos) {
	known := constants(files)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || b.Op != token.ADD {
				return true
			}
			left, right := operands(b.X, token.ADD), operands(b.Y, token.ADD)
			before, after := textOf(left[len(left)-1], known), textOf(right[0], known)
			if runTogether(before, after) {
				found = append(found, b.OpPos)
			}
			return true
		})
	}
	return found
}

func runTogether(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, ".,;:"))
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLetter(last) && unicode.IsLetter(first) && (hasSpace(before) || hasSpace(after))
}

func hasSpace(text string) bool {
	for i := 1; i < len(text)-1; i++ {
		if text[i] == ' ' {
			return true
		}
	}
	return false
}

// textOf is the text of a literal or a constant, or "".
func textOf(x ast.Expr, known map[string]string) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return text
		}
	case *ast.Ident:
		return known[x.Name]
	}
	return ""
}

// constants are the texts of a package's constants that are literals.
func constants(files []*ast.File) map[string]string {
	known := map[string]string{}
	for _, f := range files {
		for _, decl := range f.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				continue
			}
			for _, spec := range d.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						known[name.Name] = textOf(v.Values[i], nil)
					}
				}
			}
		}
	}
	return known
}

package words_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// roles are the fields of structs whose texts users read, and what they are called here.
var roles = map[string]string{
	"What": "what", "Hint": "hint", "Next": "next", "Err": "error", "Text": "text", "Message": "message", "Suggestion": "suggestion",
	"Why": "why", "Short": "short", "Long": "long", "Example": "example", "Usage": "usage", "Help": "help", "Doc": "doc",
	"Description": "description", "Summary": "summary", "Title": "title", "Reason": "reason", "Deprecated": "deprecated",
}

// parameters are the names of parameters whose arguments users read.
var parameters = []string{"what", "hint", "next", "text", "message", "suggestion", "why", "usage", "format", "doc", "help", "question", "reason"}

// parametersOfMessages returns, for each name of a function in the files, which of its arguments are messages.
func parametersOfMessages(parsed map[string]*ast.File, names []string) map[string]map[int]string {
	takes := map[string]map[int]string{"New": {0: "error"}, "Errorf": {0: "error"}}
	for _, name := range names {
		for _, decl := range parsed[name].Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				addParameters(takes, f)
			}
		}
	}
	return takes
}

// addParameters notes which parameters of a function are messages.
func addParameters(takes map[string]map[int]string, f *ast.FuncDecl) {
	at := 0
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if slices.Contains(parameters, name.Name) && types.ExprString(field.Type) == "string" {
				if takes[f.Name.Name] == nil {
					takes[f.Name.Name] = map[int]string{}
				}
				takes[f.Name.Name][at] = name.Name
			}
			at++
		}
	}
}

// A textReader collects the messages of one file.
type textReader struct {
	file  string
	takes map[string]map[int]string
	found []message
}

// read collects the texts below a node, in the order of the source.
func (r *textReader) read(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.CommentGroup:
			return false
		case *ast.Field: // its tag is no text
			r.read(n.Type)
			return false
		case *ast.KeyValueExpr:
			r.keyed(n)
			return false
		case *ast.CallExpr:
			r.call(n)
			return false
		case *ast.BinaryExpr, *ast.BasicLit:
			return !r.isText(n.(ast.Expr), "")
		}
		return true
	})
}

// keyed collects the text of a field or of an entry of a map.
func (r *textReader) keyed(n *ast.KeyValueExpr) {
	role := ""
	if key, ok := n.Key.(*ast.Ident); ok {
		role = roles[key.Name]
	} else {
		r.read(n.Key)
	}
	r.expression(n.Value, role)
}

// call collects the texts among the arguments of a call.
func (r *textReader) call(n *ast.CallExpr) {
	r.read(n.Fun)
	name := calledName(n.Fun)
	if strings.HasPrefix(types.ExprString(n.Fun), "regexp.") {
		return
	}
	option := optionName(name, n.Args)
	for i, argument := range n.Args {
		role := r.takes[name][i]
		if option != "" {
			role = ""
			if i == len(n.Args)-1 {
				role = option
			}
		}
		r.expression(argument, role)
	}
}

// calledName is the name of a called function or method.
func calledName(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

var flagFunction = regexp.MustCompile(`^(Bool|String|Int|Int32|Int64|Float32|Float64|Duration|StringArray|StringSlice|Count)?(Var|P|VarP|Func)?$`)

// optionName is the flag that a call declares: its name precedes the usage, which is the last argument.
func optionName(function string, arguments []ast.Expr) string {
	if !flagFunction.MatchString(function) || len(arguments) < 3 {
		return ""
	}
	for _, argument := range arguments[:len(arguments)-1] {
		if lit, ok := argument.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, _ := strconv.Unquote(lit.Value)
			return "--" + name
		}
	}
	return ""
}

// expression collects the text of an expression, and those inside it.
func (r *textReader) expression(e ast.Expr, role string) {
	if r.isText(e, role) {
		return
	}
	call, ok := e.(*ast.CallExpr)
	if ok && role != "" && types.ExprString(call.Fun) == "fmt.Sprintf" && len(call.Args) > 0 {
		r.expression(call.Args[0], role)
		for _, argument := range call.Args[1:] {
			r.read(argument)
		}
		return
	}
	r.read(e)
}

// isText reports whether an expression is a text, which it collects if it is a message.
func (r *textReader) isText(e ast.Expr, role string) bool {
	text, ok := r.text(e)
	if ok && isMessage(text, role) {
		r.found = append(r.found, message{r.file, role, text})
	}
	return ok
}

// text renders a literal, or a sum that has literals in it.
func (r *textReader) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, isLeft := r.text(e.X)
		right, isRight := r.text(e.Y)
		if !isLeft && !isRight {
			return "", false
		}
		return r.operand(e.X, left, isLeft) + r.operand(e.Y, right, isRight), true
	}
	return "", false
}

// operand is one side of a sum; the texts inside one that is no text are collected by themselves.
func (r *textReader) operand(e ast.Expr, text string, ok bool) string {
	if ok {
		return text
	}
	r.read(e)
	return "{" + types.ExprString(e) + "}"
}

var (
	inserted = regexp.MustCompile(`\{[^}]*\}|%[-+# 0-9.\[\]]*[a-zA-Z]`)
	word     = regexp.MustCompile("^[(\"'`]*[A-Za-z'-]*[a-z][A-Za-z'-]*[,.:;?!)\"'`]*$")
	letters  = regexp.MustCompile(`[A-Za-z]{2}`)
)

// isMessage reports whether a text has a role and words, or else reads as a sentence.
func isMessage(text, role string) bool {
	bare := inserted.ReplaceAllString(text, " ")
	if role != "" {
		return letters.MatchString(bare)
	}
	fields := strings.Fields(bare)
	words := 0
	for _, field := range fields {
		if word.MatchString(field) {
			words++
		}
	}
	return words >= 3 && words*10 >= len(fields)*7 && strings.Contains(strings.TrimSpace(text), " ")
}

package dockerfile

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// run looks for go build in a RUN.
func (r *reader) run(in instruction) {
	text := in.arguments
	for strings.HasPrefix(text, "--") { // mounts, which only make it faster
		_, text, _ = strings.Cut(text, " ")
		text = strings.TrimSpace(text)
	}
	dir := r.workdir
	if words, ok := list(text); ok {
		r.call(in, command{words: words, env: r.variables, dir: &dir})
		return
	}
	if in.document != "" && alone().MatchString(text) {
		text = in.document
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || strings.HasPrefix(text, "<<") || strings.HasPrefix(text, "#!") {
		r.apart(in, notUnderstood)
		return
	}
	for _, statement := range file.Stmts {
		r.statement(in, statement, &dir)
	}
}

const notUnderstood = "slipway does not understand this command"

// alone matches a here-document that is all there is, which the shell is to read.
var alone = lazy.Regexp(`^<<\S+$`)

// command is a command that a shell is to run.
type command struct {
	words []string
	env   map[string]string
	dir   *string // where it is run; cd changes it
}

func (r *reader) statement(in instruction, s *syntax.Stmt, dir *string) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			r.statement(in, c.X, dir)
			r.statement(in, c.Y, dir)
			return
		}
	case *syntax.CallExpr:
		if words, env, why := r.words(c); why != "" {
			r.apart(in, why)
		} else {
			r.call(in, command{words, env, dir})
		}
		return
	}
	r.apart(in, notUnderstood)
}

// words expands a command, and the variables that it runs with. Why says what keeps it from being told.
func (r *reader) words(c *syntax.CallExpr) (words []string, env map[string]string, why string) {
	env = maps.Clone(r.variables)
	for _, a := range c.Assigns {
		if a.Name != nil && a.Value != nil {
			if env[a.Name.Value], why = r.literal(a.Value, r.variables); why != "" {
				return nil, nil, why
			}
		}
	}
	for _, word := range c.Args {
		if name := r.unknown(word); name != "" {
			return nil, nil, "$" + name + " has no value; --build-arg gives it one"
		}
		text, why := r.literal(word, r.variables)
		if why != "" {
			return nil, nil, why
		}
		if text != "" || isQuoted(word) { // a shell drops others
			words = append(words, text)
		}
	}
	for len(words) > 1 && words[0] == "env" {
		name, value, ok := strings.Cut(words[1], "=")
		if !ok {
			return words[1:], env, ""
		}
		env[name], words = value, slices.Delete(words, 1, 2)
	}
	return words, env, ""
}

// isQuoted reports whether a part of a word is in quotes.
func isQuoted(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		switch part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		}
		return false
	})
}

// unknown is a variable in a word that has no value, nor one for that.
func (r *reader) unknown(word *syntax.Word) (name string) {
	syntax.Walk(word, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Exp == nil && p.Param != nil {
			if _, known := r.variables[p.Param.Value]; !known {
				name = p.Param.Value
			}
		}
		return true
	})
	return name
}

// literal expands a word of text and variables, which may have a value for when they have none. Nothing is computed:
// that a shell could do forever.
func (r *reader) literal(word *syntax.Word, variables map[string]string) (text, why string) {
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.ParamExp:
			if !simple(n) {
				why = "slipway does not know this expansion"
			}
		case *syntax.CmdSubst:
			why = "slipway does not run commands for their output"
		default:
			why = "slipway does not know this expansion"
		}
		return why == ""
	})
	if why != "" {
		return "", why
	}
	config := &expand.Config{Env: expand.FuncEnviron(func(name string) string { return r.value(variables, name) })}
	text, err := expand.Literal(config, word)
	if r.left == 0 {
		return "", "the values of the variables are too large"
	}
	if err != nil {
		return "", err.Error()
	}
	return text, ""
}

// value is that of a variable, and empty when variables have stood for enough.
func (r *reader) value(variables map[string]string, name string) string {
	value := variables[name]
	if len(value) >= r.left {
		r.left = 0
		return ""
	}
	r.left -= len(value)
	return value
}

// simple says whether an expansion is $name, ${name} or one with a default.
func simple(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return false
	}
	return p.Exp == nil || p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull
}

// expand replaces variables in an argument. What cannot be expanded stays.
func (r *reader) expand(text string) string { return r.expandWith(text, r.variables) }

func (r *reader) expandWith(text string, variables map[string]string) string {
	word, err := syntax.NewParser().Document(strings.NewReader(text))
	if err != nil || word == nil {
		return text
	}
	full, why := r.literal(word, variables)
	if why != "" {
		return text
	}
	return full
}

// call takes a command.
func (r *reader) call(in instruction, c command) {
	words := c.words
	switch {
	case len(words) == 0:
	case words[0] == "go" && len(words) > 1 && words[1] == "build":
		r.build(in, c)
	case words[0] == "cd" && len(words) > 1:
		*c.dir = within(*c.dir, words[1])
	case r.last:
		r.apart(in, "slipway runs no command in the image")
	case words[0] == "go" && len(words) > 2 && words[1] == "mod" && slices.Contains([]string{"download", "verify"}, words[2]):
	case slices.Contains([]string{"mkdir", "cd", "true", "set"}, words[0]):
	default:
		r.apart(in, "slipway runs only go build")
	}
}

// build takes a call of go build.
func (r *reader) build(in instruction, c command) {
	if cgo := c.env["CGO_ENABLED"]; cgo != "" && cgo != "0" {
		r.apart(in, "a program with C code needs libraries, which the image does not have")
		return
	}
	b := buildLine{r: r, in: in, dir: *c.dir, Build: Build{Line: in.line}}
	b.environment(c.env) // first, so that what the line says wins
	b.flags(c.words[2:])
	b.place(r.root, b.dir)
	r.builds = append(r.builds, b.Build)
}

// place finds out where the program comes to be, and what the package is that is named in a folder, seen from where the
// sources are.
func (b *Build) place(root, dir string) {
	called := path.Base(path.Join(dir, strings.TrimSuffix(b.Package, ".go")))
	if b.output == "" || strings.HasSuffix(b.output, "/") {
		b.output = path.Join(b.output, called)
	}
	b.output = within(dir, b.output)
	if imported := b.Package != "" && b.Package[0] != '.' && b.Package[0] != '/' && !strings.HasSuffix(b.Package, ".go"); imported || root == "" {
		return
	}
	below, ok := strings.CutPrefix(within(dir, b.Package)+"/", strings.TrimSuffix(root, "/")+"/")
	if ok {
		b.Package = path.Clean(below)
	}
}

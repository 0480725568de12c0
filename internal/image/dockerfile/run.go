package dockerfile

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// run looks for go build in a RUN.
func (r *reader) run(in instruction) {
	text := in.arguments
	for strings.HasPrefix(text, "--") { // mounts, which only make it faster
		_, text, _ = strings.Cut(text, " ")
		text = strings.TrimSpace(text)
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "<<") {
		r.apart(in, "it is no command that is understood here")
		return
	}
	for _, statement := range file.Stmts {
		r.statement(in, statement)
	}
}

func (r *reader) statement(in instruction, s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			r.statement(in, c.X)
			r.statement(in, c.Y)
			return
		}
	case *syntax.CallExpr:
		if words, why := r.words(c); why != "" {
			r.apart(in, why)
		} else {
			r.call(in, words)
		}
		return
	}
	r.apart(in, "it is no command that is understood here")
}

// words expands a command, its variables among them. Why says what keeps it from being told.
func (r *reader) words(c *syntax.CallExpr) (words []string, why string) {
	variables := maps.Clone(r.variables)
	for _, a := range c.Assigns {
		if a.Name != nil && a.Value != nil {
			value, why := r.literal(a.Value, variables)
			if why != "" {
				return nil, why
			}
			if a.Name.Value == "CGO_ENABLED" && value != "0" {
				return nil, "a program of C code needs the libraries that it is linked with"
			}
		}
	}
	for _, word := range c.Args {
		unknown := ""
		syntax.Walk(word, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && p.Exp == nil && p.Param != nil {
				if _, known := variables[p.Param.Value]; !known {
					unknown = "$" + p.Param.Value + " has no value; --build-arg gives it one"
				}
			}
			return true
		})
		if unknown != "" {
			return nil, unknown
		}
		text, why := r.literal(word, variables)
		if why != "" {
			return nil, why
		}
		words = append(words, text)
	}
	return words, ""
}

// literal expands a word of text and variables, which may have a value for when they have none. Nothing is computed: that a shell
// could do forever.
func (r *reader) literal(word *syntax.Word, variables map[string]string) (text, why string) {
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.ParamExp:
			if !simple(n) {
				why = "an expansion like that is not known here"
			}
		case *syntax.CmdSubst:
			why = "the output of a command is not known here"
		default:
			why = "an expansion like that is not known here"
		}
		return why == ""
	})
	if why != "" {
		return "", why
	}
	config := &expand.Config{Env: expand.FuncEnviron(func(name string) string { return variables[name] })}
	text, err := expand.Literal(config, word)
	if err != nil {
		return "", err.Error()
	}
	return text, ""
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
func (r *reader) call(in instruction, words []string) {
	switch {
	case len(words) == 0:
	case words[0] == "go" && len(words) > 1 && words[1] == "build":
		r.build(in, words[2:])
	case r.last:
		r.apart(in, "no command is run in the image")
	case words[0] == "go" && len(words) > 2 && words[1] == "mod" && slices.Contains([]string{"download", "verify"}, words[2]):
	case slices.Contains([]string{"mkdir", "cd", "true", "set"}, words[0]):
	default:
		r.apart(in, "nothing but go build is run")
	}
}

// Flags of go build: with a value that matter to the program, with one that do not, and without one that do not.
var (
	kept    = []string{"ldflags", "tags", "gcflags", "asmflags", "mod", "buildvcs", "modfile"}
	skipped = []string{"o", "p", "C", "pkgdir"}
	bare    = []string{"a", "v", "x", "n", "trimpath", "work"}
)

// build takes a call of go build.
func (r *reader) build(in instruction, words []string) {
	b := Build{Line: in.line}
	for i := 0; i < len(words); i++ {
		flag, ok := strings.CutPrefix(words[i], "-")
		if !ok {
			b.Package = words[i]
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		if !given && (slices.Contains(skipped, name) || slices.Contains(kept, name) && name != "buildvcs") && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch {
		case name == "o":
			b.output = value
		case slices.Contains(kept, name):
			b.Flags = append(b.Flags, "-"+name+"="+value)
		case !slices.Contains(skipped, name) && !slices.Contains(bare, name):
			r.apart(in, "-"+name+" is not known here")
		}
	}
	if b.output == "" {
		b.output = path.Base(strings.TrimSuffix(b.Package, ".go"))
	}
	r.recipe.Build = b
}

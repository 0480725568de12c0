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
			value, err := expand.Literal(r.environment(variables), a.Value)
			if err != nil {
				return nil, err.Error()
			}
			if a.Name.Value == "CGO_ENABLED" && value != "0" {
				return nil, "a program of C code needs the libraries that it is linked with"
			}
		}
	}
	for _, word := range c.Args {
		unknown := ""
		syntax.Walk(word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				unknown = "the output of a command is not known here"
			case *syntax.ParamExp:
				if _, ok := variables[n.Param.Value]; !ok && n.Exp == nil {
					unknown = "$" + n.Param.Value + " has no value; --build-arg gives it one"
				}
			}
			return true
		})
		if unknown != "" {
			return nil, unknown
		}
		text, err := expand.Literal(r.environment(variables), word)
		if err != nil {
			return nil, err.Error()
		}
		words = append(words, text)
	}
	return words, ""
}

func (r *reader) environment(variables map[string]string) *expand.Config {
	return &expand.Config{Env: expand.FuncEnviron(func(name string) string { return variables[name] })}
}

// expand replaces variables in an argument. What cannot be expanded stays.
func (r *reader) expand(text string) string { return r.expandWith(text, r.variables) }

func (r *reader) expandWith(text string, variables map[string]string) string {
	word, err := syntax.NewParser().Document(strings.NewReader(text))
	if err != nil {
		return text
	}
	full, err := expand.Literal(r.environment(variables), word)
	if err != nil {
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

package dockerfile

import (
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// Why a command is not followed.
const (
	notUnderstood = "slipway does not understand this command"
	notRun        = "slipway runs only go build"
	notInImage    = "slipway runs no command in the image"
	tooMany       = "the file has too many commands"
	outputs       = "slipway does not run commands for their output"

	// NoCommands is why a RUN is left in a project that is not in Go.
	NoCommands = "slipway runs no commands of a Dockerfile"
)

// script is shell text that is gone through, without running any of it.
type script struct {
	*stage
	node  *parser.Node // of the RUN that it is in
	file  string
	line  int // of its first line
	text  string
	shown string            // in messages, where that is another text
	dir   string            // where the next command runs
	env   map[string]string // variables, all of them exported
}

// run goes through a RUN.
func (s *stage) run(node *parser.Node) {
	if s.steps -= len(s.variables); s.steps < 0 {
		s.leave(node, tooMany)
		return
	}
	c := &script{stage: s, node: node, file: s.Name, line: node.StartLine, text: first(tokens(node)), shown: node.Original, dir: s.config.Workdir, env: maps.Clone(s.variables)}
	if node.Attributes["json"] {
		c.call(tokens(node))
		return
	}
	for _, flag := range node.Flags {
		if strings.Contains(flag, "type=bind") && !strings.Contains(flag, "from=") && s.root == "" {
			s.bind(flag)
		}
	}
	if len(node.Heredocs) == 1 && alone().MatchString(c.text) {
		if c.text = node.Heredocs[0].Content; node.Heredocs[0].Chomp {
			c.text = parser.ChompHeredocContent(c.text)
		}
	}
	if s.foreign || strings.HasPrefix(c.text, "<<") || strings.HasPrefix(c.text, "#!") {
		s.leave(node, notUnderstood)
		return
	}
	c.through()
}

// bind takes notice of a mount that has the project's folder.
func (s *stage) bind(flag string) {
	var source, target string
	for part := range strings.SplitSeq(strings.TrimPrefix(flag, "--mount="), ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "source", "src":
			source = value
		case "target", "dst", "destination":
			target = value
		}
	}
	if root := within(s.config.Workdir, target); path.Clean("/"+source) == "/" && len(root) <= maxPath {
		s.root = root
	}
}

// alone matches a here-document that is all there is, which the shell is to read.
var alone = lazy.Regexp(`^<<\S+$`)

// through goes through the text.
func (c *script) through() {
	file, err := recipe.Parse(c.text)
	if err != nil {
		c.refuse(notUnderstood)
		return
	}
	for _, stmt := range file.Stmts {
		c.statement(stmt)
	}
}

// refuse notes that the text is not followed.
func (c *script) refuse(why string) { c.note(c.at(why)) }

// at is the line of the text.
func (c *script) at(why string) Line {
	return Line{File: c.file, Number: c.line, Text: shortened(c.shown), Why: why}
}

func (c *script) statement(stmt *syntax.Stmt) {
	if c.steps--; c.steps < 0 {
		c.refuse(tooMany)
		return
	}
	if stmt.Negated || stmt.Background || slices.ContainsFunc(stmt.Redirs, c.writes) {
		c.refuse(notUnderstood)
		return
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt {
			c.statement(cmd.X)
			c.statement(cmd.Y)
			return
		}
	case *syntax.Block:
		for _, inner := range cmd.Stmts {
			c.statement(inner)
		}
		return
	case *syntax.Subshell:
		c.steps -= len(c.env) // brackets in one another would have ever more of them
		inner := *c
		inner.env = maps.Clone(c.env)
		for _, stmt := range cmd.Stmts {
			inner.statement(stmt)
		}
		return
	case *syntax.DeclClause:
		if cmd.Variant.Value == "export" {
			c.assign(cmd.Args, c.env)
			return
		}
	case *syntax.CallExpr:
		c.command(cmd)
		return
	}
	c.refuse(notUnderstood)
}

// writes reports whether a redirection writes a file of the image or of the sources. Others of a stage count once they
// are copied, as what nothing makes.
func (c *script) writes(r *syntax.Redirect) bool {
	if slices.Contains([]syntax.RedirOperator{syntax.DplOut, syntax.DplIn, syntax.RdrIn}, r.Op) {
		return false
	}
	file := ""
	if r.Word != nil {
		file = r.Word.Lit()
	}
	_, ofSources := below(c.root, file)
	return file != "/dev/null" && (c.inImage || !path.IsAbs(file) || c.root != "" && ofSources || c.has(file))
}

// assign gives variables their values.
func (c *script) assign(all []*syntax.Assign, env map[string]string) bool {
	for _, a := range all {
		switch {
		case a.Append || a.Index != nil || a.Array != nil:
			c.refuse(notUnderstood)
			return false
		case a.Name == nil || a.Naked:
		case a.Value == nil:
			env[a.Name.Value] = ""
		default:
			value, why := c.expanded(a.Value, func(config *expand.Config) ([]string, error) {
				text, err := expand.Literal(config, a.Value)
				return []string{text}, err
			})
			if why != "" {
				c.refuse(why)
				return false
			}
			env[a.Name.Value] = value[0]
		}
	}
	return true
}

// command goes through a simple command. Its words are separated as a shell does it: also those in variables.
func (c *script) command(cmd *syntax.CallExpr) {
	if len(cmd.Args) == 0 {
		c.assign(cmd.Assigns, c.env)
		return
	}
	var words []string
	for _, word := range cmd.Args {
		of := c
		if slices.Contains([]string{"make", "gmake"}, path.Base(first(words))) {
			of = c.leftToMake()
		}
		if name := of.unset(word); name != "" {
			c.refuse("$" + name + " has no value; --build-arg gives it one")
			return
		}
		fields, why := of.expanded(word, func(config *expand.Config) ([]string, error) { return expand.Fields(config, word) })
		if why != "" {
			c.refuse(why)
			return
		}
		words = append(words, fields...)
	}
	before := c.env
	if len(cmd.Assigns) > 0 || first(words) == "env" {
		c.steps -= len(c.env)
		c.env = maps.Clone(c.env)
	}
	if c.assign(cmd.Assigns, c.env) {
		c.call(words)
	}
	c.env = before
}

// leftToMake has references to the builder's own arguments stand for themselves, so that make hands them to the shell:
// GOARCH=$TARGETARCH says nothing that the image's platform does not say.
func (c *script) leftToMake() *script {
	c.steps -= len(c.env)
	inner := *c
	inner.env = maps.Clone(c.env)
	for _, name := range platforms {
		if _, known := c.env[name]; !known {
			inner.env[name] = "$${" + name + "}"
		}
	}
	return &inner
}

// unset is a variable in a word that has no value, nor one for that.
func (c *script) unset(word *syntax.Word) (name string) {
	syntax.Walk(word, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Exp == nil && p.Param != nil {
			if _, known := c.env[p.Param.Value]; !known {
				name = p.Param.Value
			}
		}
		_, computed := n.(*syntax.CmdSubst)
		return !computed
	})
	return name
}

// expanded is what a word of text and variables stands for, or why that is not known. Nothing is computed: that a shell
// could do forever.
func (c *script) expanded(word *syntax.Word, expanding func(*expand.Config) ([]string, error)) (all []string, why string) {
	known := !slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool { // {a,b}
		lit, is := part.(*syntax.Lit)
		return is && strings.Contains(lit.Value, "{")
	})
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.ParamExp:
			known = known && simple(n)
		case *syntax.CmdSubst:
			return false
		default:
			known = false
		}
		return known
	})
	if !known {
		return nil, errExpansion.Error()
	}
	all, err := expanding(&expand.Config{
		Env: expand.FuncEnviron(func(name string) string { value, _ := lookup{c.reader, c.env}.Get(name); return value }),
		CmdSubst: func(w io.Writer, _ *syntax.CmdSubst) error {
			_, err := io.WriteString(w, recipe.Unknown)
			return err
		},
	})
	switch {
	case c.left == 0:
		return nil, errExpanded.Error()
	case err != nil:
		return nil, errExpansion.Error()
	}
	return all, ""
}

// simple says whether an expansion is $name, ${name} or one with a default.
func simple(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return false
	}
	return p.Exp == nil || p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull
}

// Commands that change nothing of what the image has.
var (
	reading  = []string{"true", ":", "set", "echo", "printf", "test", "[", "ls", "pwd", "cat", "which", "command", "type", "date", "uname", "sleep", "env"}
	settling = []string{"mkdir", "chmod", "umask", "touch"} // files of a stage in which something is built
	system   = []string{"apt-get", "apt", "apk", "yum", "dnf", "microdnf", "tdnf", "zypper", "update-ca-certificates", "git"}
	users    = []string{"groupadd", "useradd", "addgroup", "adduser"}
	supplied = []string{"ca-certificates", "tzdata", "update", "add", "install", "clean", "all"} // of words for the system's packages
	// generators make code, which slipway takes as it is in the project.
	generators = []string{"controller-gen", "slipway"}
	// goReads are the verbs of go that change no source.
	goReads = []string{"mod", "version", "vet", "test", "list", "fmt", "clean", "tool"}
)

// call goes through a command.
func (c *script) call(words []string) {
	for len(words) > 1 && words[0] == "env" {
		name, value, ok := strings.Cut(words[1], "=")
		if !ok {
			words = words[1:]
			break
		}
		c.env[name], words = value, slices.Delete(words, 1, 2)
	}
	if len(words) == 0 {
		return
	}
	name := path.Base(words[0])
	switch {
	case strings.Contains(words[0], recipe.Unknown):
		c.refuse(notUnderstood)
	case name == "go" && len(words) > 1:
		c.goCommand(words)
	case (name == "make" || name == "gmake") && !c.inImage:
		c.make(words[1:])
	case name == "cd" && len(words) == 2 && !strings.Contains(words[1], recipe.Unknown):
		if c.dir = within(c.dir, words[1]); len(c.dir) > maxPath {
			c.dir = "/"
			c.refuse(longPath)
		}
	case (name == "cp" || name == "mv") && c.moved(words[1:]):
	case slices.Contains(reading, name):
	case name == "rm" && !slices.ContainsFunc(words[1:], func(w string) bool { return c.has(w) || c.made(within(c.dir, w)) }):
	case c.inImage && (name == "mkdir" || name == "chown") && c.folder(name, words[1:]):
	case c.inImage && !c.provided(name, words[1:]):
		c.refuse(notInImage)
	case slices.Contains(settling, name), slices.Contains(generators, name):
	case slices.Contains(system, name), slices.Contains(users, name):
		l := c.at(notRun)
		l.Harmless = true
		if c.inImage { // the line may also make folders
			l.Text = shortened(strings.Join(words, " "))
		}
		c.note(l)
	default:
		c.refuse(notRun)
	}
}

// provided reports whether a command gives an image only what every one has: authorities, time zones, and users by
// their numbers.
func (c *script) provided(name string, words []string) bool {
	return slices.Contains(users, name) || slices.Contains(system, name) && name != "git" &&
		!slices.ContainsFunc(words, func(w string) bool { return !strings.HasPrefix(w, "-") && !slices.Contains(supplied, w) })
}

// has reports whether a word may name something that the stage has of the project, or that was built.
func (c *script) has(word string) bool {
	full := within(c.dir, word)
	return !strings.HasPrefix(word, "-") && (strings.Contains(word, recipe.Unknown) || slices.ContainsFunc(c.files, func(p placed) bool {
		_, in := below(full, p.To)
		_, holds := below(p.To, full)
		return in || holds && p.dir
	}))
}

// moved copies a program or a file of the project within the stage.
func (c *script) moved(words []string) bool {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	if len(words) != 2 || strings.Contains(words[0]+words[1], recipe.Unknown) {
		return false
	}
	found := c.stage.at(within(c.dir, words[0]))
	if len(found) == 0 {
		return false
	}
	c.place(c.node, found, within(c.dir, words[1])+words[1][len(strings.TrimRight(words[1], "/")):], false, Copy{})
	return true
}

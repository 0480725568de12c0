// Package makefile finds out what a project's Makefile passes to a program, without running make or a shell.
//
//	calls := makefile.Calls(content, makefile.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"}, os.Getenv, root.FS())
//	for _, c := range calls {
//		c.Line, c.Target, c.Arguments, c.Unclear
//	}
//
// It understands what such Makefiles do: variables, their references in one another, recipes of simple commands, a
// folder that the line of a recipe changes to. It reports everything else ([Call.Unclear]) and never guesses. Examples
// are a variable that depends on a condition or on a command's output, arguments with shell expansions, a command in a
// loop or a pipe.
//
// GNU make's manual, "How to Use Variables" and "Writing Recipes in Rules", says what the syntax means.
package makefile

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// Program is what a call is a call of.
type Program struct {
	Name     string // the last element of its path
	Variable string // the make variable that holds its path, whatever that is
}

// Call is one call of the program in a recipe.
type Call struct {
	File      string // the included file's name; "" in the Makefile itself
	Line      int    // the first line of the command, from 1
	Target    string // the rule's
	Dir       string // where it runs, relative to the project's folder and with slashes; "" is that folder
	Arguments []string
	// Unclear says why Arguments cannot be reported; "" when they can.
	Unclear string
	// Then is the first command of the recipe's later lines that may change what the program wrote; nil when there is
	// none.
	Then *Step
	// Removed are the files that later lines of the recipe remove by their names, relative to the project's folder and
	// with slashes.
	Removed []string
}

// Step is a command of a recipe.
type Step struct {
	File string // as in Call
	Line int
	Text string // as make would run it, what only make knows left as it stands in the Makefile
}

// Calls finds the calls in a Makefile, in order. Getenv is asked for variables that the
// Makefile leaves to the environment (?=), and files has what it includes:
// those of the project's folder, and no others ([os.Root.FS]); nil includes none.
func Calls(content []byte, program Program, getenv func(string) string, files fs.FS) []Call {
	m := read(string(content), getenv, files)
	// The variable's value is of no interest: its reference becomes the program's name.
	m.variables[program.Variable] = variable{value: program.Name}
	var calls []Call
	for i, r := range m.recipes {
		found := m.calls(r, program)
		if len(found) > 0 {
			then := m.after(i, program)
			removed := m.removedAfter(i)
			for j := range found {
				found[j].Then, found[j].Removed = then, removed
			}
		}
		calls = append(calls, found...)
	}
	return calls
}

// after finds the first command behind a line of a recipe that is neither the program's nor one that writes no file.
func (m *reader) after(i int, program Program) *Step {
	for _, r := range m.recipes[i+1:] {
		if r.rule != m.recipes[i].rule {
			return nil
		}
		if len(m.calls(r, program)) > 0 || harmless(r.text) {
			continue
		}
		text := strings.Join(strings.Fields(m.expand(strings.TrimLeft(r.text, "@-+ \t"), 0)), " ")
		if strings.Contains(text, opaque) {
			text = strings.Join(strings.Fields(strings.TrimLeft(r.text, "@-+ \t")), " ")
		}
		return &Step{File: r.file, Line: r.line, Text: text}
	}
	return nil
}

// removedAfter finds the files that the recipe removes behind a line of it.
func (m *reader) removedAfter(i int) (removed []string) {
	for _, r := range m.recipes[i+1:] {
		if r.rule != m.recipes[i].rule {
			break
		}
		text := strings.TrimLeft(r.text, "@-+ \t")
		if !strings.HasPrefix(text, "rm ") {
			continue
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(m.expand(text, 0)), "")
		if err != nil || len(file.Stmts) != 1 {
			continue
		}
		if command, ok := file.Stmts[0].Cmd.(*syntax.CallExpr); ok {
			removed = append(removed, plainFiles(command.Args[1:])...)
		}
	}
	return removed
}

// plainFiles are the words that name a file of the project as it is: no options, no patterns.
func plainFiles(words []*syntax.Word) (files []string) {
	for _, word := range words {
		text, clear := literal(word)
		if clear && !strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "*?[{~") && fs.ValidPath(path.Clean(text)) {
			files = append(files, path.Clean(text))
		}
	}
	return files
}

// quiet are commands that write no file, unless the shell sends their output to one.
var quiet = []string{"echo", "printf", "true", ":", "exit"}

// harmless reports whether a line of a recipe is a comment or prints something.
func harmless(text string) bool {
	text = strings.TrimLeft(text, "@-+ \t")
	word, _, _ := strings.Cut(text, " ")
	return text == "" || text[0] == '#' || slices.Contains(quiet, word) && !strings.ContainsAny(text, ">|;&`")
}

// recipe is a line of a rule's recipe, continuation lines joined.
type recipe struct {
	file   string
	line   int
	target string
	rule   int // which rule of the Makefile it is in
	text   string
}

// calls finds the program's calls in one line.
func (m *reader) calls(r recipe, program Program) []Call {
	if !strings.Contains(r.text, program.Name) && !strings.Contains(r.text, program.Variable) {
		return nil
	}
	text := strings.TrimLeft(m.expand(strings.TrimLeft(r.text, "@-+ \t"), 0), "@-+ \t")
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return []Call{{File: r.file, Line: r.line, Target: r.target, Unclear: "it is not a valid shell command: " + err.Error()}}
	}
	statements, dir, unclear := inFolder(file.Stmts)
	if len(statements) == 0 {
		statements = file.Stmts
	}
	var calls []Call
	for _, statement := range statements {
		if c, found := callIn(statement, program, len(statements) == 1); found {
			c.File, c.Line, c.Target = r.file, r.line, r.target
			calls = append(calls, c.in(dir, unclear))
		}
	}
	return calls
}

// in is the call in a folder, or one that is not clear since its folder is not.
func (c Call) in(dir, unclear string) Call {
	if c.Unclear = cmp.Or(c.Unclear, unclear); c.Unclear != "" {
		c.Arguments = nil
		return c
	}
	c.Dir = dir
	return c
}

// callIn finds the program's call in a statement. Only a command that stands alone is clear.
func callIn(statement *syntax.Stmt, program Program, alone bool) (Call, bool) {
	found := false
	var call Call
	syntax.Walk(statement, func(node syntax.Node) bool {
		command, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		arguments, unclear, is := argumentsOf(command, program)
		if !is || unclear == "" && asks(arguments) {
			return true
		}
		found = true
		if command != statement.Cmd || !alone || !plain(statement) {
			unclear = "it is part of a larger shell command"
		}
		call = Call{Arguments: arguments, Unclear: unclear}
		return false
	})
	if call.Unclear != "" {
		call.Arguments = nil
	}
	return call, found
}

// asks reports whether arguments ask a program for its version or for help.
func asks(arguments []string) bool {
	return len(arguments) == 1 && slices.Contains([]string{"--version", "--help", "-h"}, arguments[0])
}

// argumentsOf returns what follows the program's name, also behind `go run` or `go tool`.
func argumentsOf(command *syntax.CallExpr, program Program) (arguments []string, unclear string, is bool) {
	for i, word := range command.Args {
		text, clear := literal(word)
		if !is {
			is = clear && isProgram(text, program.Name) && (i == 0 || goRuns(command.Args[:i]))
			continue
		}
		if !clear {
			unclear = "an argument depends on a value that only make or the shell knows"
		}
		arguments = append(arguments, text)
	}
	return arguments, unclear, is
}

func isProgram(word, name string) bool {
	word, _, _ = strings.Cut(word, "@")
	base := path.Base(word)
	return base == name || versioned().MatchString(strings.TrimPrefix(base, name)) && strings.HasPrefix(base, name)
}

// versioned matches what follows a program's name in that of a file which says its version.
var versioned = lazy.Regexp(`^-` + versionPattern + `$`)

// goRuns reports whether the words before a program's name are go's that run it: go run, go -C dir tool.
func goRuns(words []*syntax.Word) bool {
	first, _ := literal(words[0])
	return path.Base(first) == "go" && slices.ContainsFunc(words[1:], func(w *syntax.Word) bool {
		verb, clear := literal(w)
		return clear && (verb == "run" || verb == "tool")
	})
}

// literal is the text of a word without quotes; not clear if it holds an expansion.
func literal(word *syntax.Word) (text string, clear bool) {
	return literalParts(word.Parts)
}

func literalParts(parts []syntax.WordPart) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, clear := literalParts(p.Parts)
			if !clear {
				return "", false
			}
			b.WriteString(inner)
		default:
			return "", false
		}
	}
	text := b.String()
	return text, !strings.Contains(text, opaque)
}

// unescape removes the backslashes that quote single characters.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// yearNow is what $(shell date +%Y) prints, which headers of generated files ask for.
func yearNow() string { return time.Now().Format("2006") }

// Package makefile reads what a project's Makefile has a shell run, without running make or a shell.
//
//	texts := makefile.Texts(content, os.Getenv, view, recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"})
//	calls := recipe.Calls(texts, program, view)
//
// It understands what such Makefiles do: variables, their references in one another, files that they include. What it
// cannot know becomes [recipe.Unknown]: a variable that depends on a condition or on a command's output.
//
// GNU make's manual, "How to Use Variables" and "Writing Recipes in Rules", says what the syntax means.
package makefile

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/recipe"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// Name is the file that is read.
const Name = "Makefile"

// Texts are the lines of a Makefile's recipes, in order. Getenv is asked for variables that the Makefile leaves to the
// environment (?=), and files has what it includes: those of the project's folder, and no others; nil includes none. A
// reference to the variable of a program stands for the program, whatever its value is.
func Texts(content []byte, getenv func(string) string, files fs.FS, programs ...recipe.Program) []recipe.Text {
	return read(string(content), getenv, files, nil).texts(programs...)
}

func (m *reader) texts(programs ...recipe.Program) []recipe.Text {
	for _, p := range programs {
		m.variables[p.Variable] = variable{value: p.Name}
	}
	if _, set := m.variables["MAKE"]; !set {
		m.variables["MAKE"] = variable{value: "make"}
	}
	var texts []recipe.Text
	for _, r := range m.recipes {
		texts = append(texts, m.shell(r))
	}
	return texts
}

// shell is a line of a recipe as the shell gets it.
func (m *reader) shell(r line) recipe.Text {
	source := strings.TrimLeft(r.text, prefixes)
	return recipe.Text{File: r.file, Line: r.line, Target: r.target, Command: r.command, Group: r.rule, Optional: r.conditional,
		Shell: strings.TrimLeft(m.expand(source, 0), prefixes), Source: source}
}

// maxNeeds is how many needs there are of all targets together.
const maxNeeds = 1 << 16

// Needs are the targets that a Makefile has made before each of those that it has rules for.
func Needs(content []byte, getenv func(string) string, files fs.FS) map[string][]string {
	needs, left := map[string][]string{}, maxNeeds
	for _, h := range read(string(content), getenv, files, nil).heads {
		targets, words := strings.Fields(h.target), strings.Fields(h.needs)
		slices.Sort(targets)
		for _, target := range slices.Compact(targets) {
			taken := words[:min(len(words), left)]
			needs[target], left = append(needs[target], taken...), left-len(taken)
		}
	}
	return needs
}

// Value is the value of a variable, or "" where it has none or only make knows it.
func Value(content []byte, name string, getenv func(string) string, files fs.FS) string {
	m := read(string(content), getenv, files, nil)
	if value := m.expand(m.variables[name].value, 0); !m.variables[name].conditional && !strings.Contains(value, opaque) {
		return value
	}
	return ""
}

// prefixes are the characters before a command by which make decides how to run it.
const prefixes = "@-+ \t"

// command is the command that makes targets of the Makefile, which may be a stranger's; "" where a shell takes the name
// of one for more than a word.
func command(target string) string {
	words := strings.Fields(target) // a rule may have several
	if slices.ContainsFunc(words, func(t string) bool { return !shellword.IsPlain(t) }) {
		return ""
	}
	return "make " + strings.Join(words, " ")
}

// line is a line of a rule's recipe, continuation lines joined.
type line struct {
	file    string
	line    int
	target  string
	command string // that makes it
	rule    int    // which rule of the Makefile it is in
	text    string

	conditional bool // inside of a condition
}

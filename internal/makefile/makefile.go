// Package makefile finds the shell commands in a project's Makefile, without running make or a shell.
//
//	texts := makefile.Texts(content, os.Getenv, view, recipe.Program{Name: "controller-gen", Variable: "CONTROLLER_GEN"})
//	calls := recipe.Calls(texts, program, view)
//
// It expands variables and reads included files. A variable that depends on a condition or on a command's output
// becomes [recipe.Unknown].
//
// GNU make's manual defines the syntax, in "How to Use Variables" and "Writing Recipes in Rules".
package makefile

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/recipe"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// Name is the file that is read. GNU make also accepts GNUmakefile and makefile, which no layout uses.
const Name = "Makefile"

// Texts returns the lines of a Makefile's recipes, in order. Getenv supplies variables that the Makefile takes from the
// environment (?=). Files, the project's folder, holds what the Makefile includes; nil includes nothing. A reference to
// the variable of a program expands to the program's name, whatever its value.
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

// shell returns a line of a recipe as make passes it to the shell.
func (m *reader) shell(r line) recipe.Text {
	source := strings.TrimLeft(r.text, prefixes)
	return recipe.Text{File: r.file, Line: r.line, Target: r.target, Command: r.command, Group: r.rule, Optional: r.conditional,
		Shell: strings.TrimLeft(m.expand(source, 0), prefixes), Source: source}
}

// maxNeeds bounds the number of prerequisites of all targets together.
const maxNeeds = 1 << 16

// Needs returns the prerequisites of each target that has a rule, unexpanded.
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

// Value returns the value of a variable, or "" if it is unset or only make knows it.
func Value(content []byte, name string, getenv func(string) string, files fs.FS) string {
	m := read(string(content), getenv, files, nil)
	if value := m.expand(m.variables[name].value, 0); !m.variables[name].conditional && !strings.Contains(value, unknownValue) {
		return value
	}
	return ""
}

// prefixes are the characters before a recipe's command by which make decides how to run it.
const prefixes = "@-+ \t"

// command returns the command that makes the targets of a rule. It returns "" if a name would need quoting: the
// Makefile may be a stranger's.
func command(target string) string {
	words := strings.Fields(target) // a rule may have several targets
	if slices.ContainsFunc(words, func(t string) bool { return !shellword.IsPlain(t) }) {
		return ""
	}
	return "make " + strings.Join(words, " ")
}

// line is a line of a recipe, with its continuation lines.
type line struct {
	file    string
	line    int
	target  string
	command string // makes the target
	rule    int    // number of the rule in the Makefile
	text    string

	conditional bool // inside ifeq or the like
}

package recipe

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

var (
	// justAssignment matches NAME := VALUE.
	justAssignment = lazy.Regexp(`^(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(.*)$`)
	// justRecipe matches the head of a recipe.
	justRecipe = lazy.Regexp(`^@?([A-Za-z_][\w-]*)(?:\s+[^:=]*(?:=[^:]*)?)?:(?:[^=]|$)`)
	// justImport matches import 'FILE', and mod NAME 'FILE'.
	justImport = lazy.Regexp(`^(?:import|mod)\??\s+(?:[\w-]+\s+)?['"]([^'"]+)['"]`)
	// justTerm matches one part of a value: a string or a name.
	justTerm = lazy.Regexp(`^(?:'([^']*)'|"([^"\\]*)"|([A-Za-z_][\w-]*))$`)
)

// justfile reads a justfile (https://just.systems/man/en/grammar.html). Each line of a recipe runs in its own shell,
// unless the recipe begins with #!.
func (t *tasks) justfile(content []byte) {
	lines := strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	for _, text := range lines { // assignments may follow the recipes that use them
		if a := justAssignment().FindStringSubmatch(text); a != nil {
			t.values[a[1]] = t.justValue(a[2])
		}
	}
	recipe := ""
	for i := 0; i < len(lines); i++ {
		text := lines[i]
		indented := strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t")
		switch found := justRecipe().FindStringSubmatch(text); {
		case indented && recipe != "":
			i = t.justLines(recipe, lines, i)
		case indented, strings.TrimSpace(text) == "", strings.HasPrefix(text, "#"), strings.HasPrefix(text, "["):
		case found != nil:
			recipe = found[1]
			t.group++
		default:
			recipe = ""
			if named := justImport().FindStringSubmatch(text); named != nil {
				if rel, ok := Below(path.Dir(t.file), named[1]); ok {
					t.include(rel, t.prefix, t.dir, (*tasks).justfile)
				}
			}
		}
	}
}

// justLines adds the command that begins at a line, and returns the index of its last line.
func (t *tasks) justLines(recipe string, lines []string, at int) (last int) {
	text, begin := strings.TrimSpace(lines[at]), at
	more := func() bool {
		next := at + 1
		return next < len(lines) && (strings.HasPrefix(lines[next], " ") || strings.HasPrefix(lines[next], "\t") || lines[next] == "")
	}
	if strings.HasPrefix(text, "#!") {
		for more() {
			at++
			text += "\n" + strings.TrimSpace(lines[at])
		}
	}
	for strings.HasSuffix(text, `\`) && at+1 < len(lines) {
		at++
		text = strings.TrimSuffix(text, `\`) + " " + strings.TrimSpace(lines[at])
	}
	t.add(recipe, begin+1, t.dir, strings.TrimLeft(text, "@-"))
	return at
}

// justValue returns the value of an expression: strings, names and justfile_directory(), joined with + and /.
func (t *tasks) justValue(expression string) string {
	if at := strings.LastIndex(expression, " #"); at >= 0 && !strings.ContainsAny(expression[at:], `'"`) {
		expression = expression[:at]
	}
	var b strings.Builder
	for _, part := range strings.Split(strings.ReplaceAll(expression, " / ", " + '/' + "), " + ") {
		part = strings.TrimSpace(part)
		term := justTerm().FindStringSubmatch(part)
		value, known := "", part == "justfile_directory()"
		switch {
		case known:
			value = Root
		case term != nil && term[3] != "":
			value, known = t.values[term[3]]
		case term != nil:
			value, known = term[1]+term[2], true
		}
		if !known || b.Len() > maxWord || !t.room.takes(len(value)) {
			return Unknown
		}
		b.WriteString(value)
	}
	return b.String()
}

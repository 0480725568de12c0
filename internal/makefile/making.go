package makefile

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/recipe"
)

// The limits of one goal: maxTargets targets with maxLines lines in all. The text of lines and prerequisites is at most
// maxBytes.
const (
	maxTargets = 1000
	maxLines   = 1 << 16
)

type ruleHead struct {
	line
	needs string
}

// A Goal is the command line of make.
type Goal struct {
	Targets   []string          // none means the first target of the Makefile
	Variables map[string]string // assignments on the command line
	// PassOver decides by a target's own recipe whether to treat the target and its prerequisites as up to date.
	PassOver func(own []recipe.Text) bool
}

// Making returns the lines that make runs for a goal, in order, in the form of [Texts], and the exported variables.
// Prerequisites come first. Targets that only install tools count as made.
//
// A line is [recipe.Unknown] if it is uncertain whether or with what make runs it: it is conditional, or its target has
// no rule, a pattern rule or variables of its own. An unknown variable is followed by its name and [recipe.Named].
func Making(content []byte, getenv func(string) string, files fs.FS, goal Goal) (texts []recipe.Text, exported map[string]string) {
	m := read(string(content), getenv, files, goal.Variables)
	m.names = true
	if _, set := m.variables["MAKE"]; !set {
		m.variables["MAKE"] = variable{value: "make"}
	}
	g := &goalReader{reader: m, goal: goal, heads: map[string][]ruleHead{}, lines: map[int][]line{}, made: map[string]bool{}, left: maxLines, text: maxBytes}
	for _, h := range m.heads {
		for _, target := range strings.Fields(m.expand(h.target, 0)) {
			if known := g.heads[target]; len(known) == 0 || known[len(known)-1].rule != h.rule { // it may repeat one
				g.heads[target] = append(known, h)
			}
			if len(goal.Targets) == 0 && len(g.goal.Targets) == 0 && !strings.HasPrefix(target, ".") {
				g.goal.Targets = []string{target}
			}
		}
	}
	for _, r := range m.recipes {
		g.lines[r.rule] = append(g.lines[r.rule], r)
	}
	for _, target := range g.goal.Targets {
		g.make(target)
	}
	g.automatic = ""
	if !g.affordsLine("") {
		g.texts = append(g.texts, recipe.Text{File: Name, Line: 1, Shell: recipe.Unknown, Source: "make"})
	}
	exported = map[string]string{}
	for name := range m.variables {
		if _, given := goal.Variables[name]; given || m.exported[name] || getenv(name) != "" {
			exported[name] = m.expand("$("+name+")", 0)
		}
	}
	return g.texts, exported
}

// goalReader collects the lines for a goal.
type goalReader struct {
	*reader
	goal  Goal
	heads map[string][]ruleHead // by target
	lines map[int][]line        // by rule
	made  map[string]bool
	texts []recipe.Text
	left  int // lines that may still be added, including those that are passed over
	text  int // bytes that lines and prerequisites may still have
}

// affordsLine counts a line and reports whether the limits allow it.
func (g *goalReader) affordsLine(text string) bool {
	g.left, g.text = g.left-1, g.text-len(text)
	return g.left >= 0 && g.text >= 0
}

func (g *goalReader) make(target string) {
	if g.made[target] || len(g.made) > maxTargets || g.left < 0 || g.text < 0 {
		return
	}
	g.made[target] = true
	heads := g.heads[target]
	if len(heads) == 0 && (g.files == nil || !g.isFile(target)) {
		g.texts = append(g.texts, recipe.Text{File: Name, Line: 1, Target: target, Shell: recipe.Unknown, Source: "make " + target})
		return
	}
	var own []recipe.Text
	var needs []string
	for _, h := range heads {
		g.automatic = target
		text := g.expand(h.needs, 0)
		if !g.affordsLine(text) {
			return
		}
		if strings.ContainsAny(h.needs, "=;:%") || h.conditional {
			own = append(own, unknown(h.line))
		} else {
			needs = append(needs, strings.Fields(strings.ReplaceAll(text, "|", " "))...)
		}
		for _, r := range g.lines[h.rule] {
			text := g.shell(r)
			if r.conditional {
				text = unknown(r)
			}
			if !g.affordsLine(text.Shell) {
				return
			}
			if text.Shell != "" {
				own = append(own, text)
			}
		}
		g.automatic = ""
	}
	if g.installsTools(target, own) || g.goal.PassOver(own) {
		return
	}
	for _, need := range slices.DeleteFunc(needs, func(n string) bool { return strings.Contains(n, recipe.Unknown) }) { // mostly sources
		g.make(need)
	}
	g.texts = append(g.texts, own...)
}

// isFile reports whether the target is a file of the project, which needs no rule.
func (g *goalReader) isFile(target string) bool {
	rel, ok := recipe.Below("", target)
	if !ok || !fs.ValidPath(rel) {
		return false
	}
	_, err := fs.Stat(g.files, rel)
	return err == nil
}

// unknown returns the text for a line that make may or may not run.
func unknown(r line) recipe.Text {
	return recipe.Text{File: r.file, Line: r.line, Target: r.target, Shell: recipe.Unknown, Source: strings.TrimSpace(r.text)}
}

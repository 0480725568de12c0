package toollink

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/lazy"
)

// An Obstacle is a line of a project's Makefile for which make does not use the link to a tool.
type Obstacle struct {
	Line   int
	Tool   string
	Target string // whose recipe installs the tool, whatever is there; "" where the tool is taken from PATH
}

var (
	// installation matches a recipe that installs a tool, and has the last element of the tool's package.
	installation = lazy.Regexp(`\bgo (?:install|get)\b[^;&|]*?/(?:cmd/(controller-gen)|kustomize/(kustomize)(?:/v\d+)?|tools/(setup-envtest))(?:@|\s|$)`)
	// guard matches what comes before it in a recipe that first looks whether the tool is there.
	guard = lazy.Regexp(`\|\||\bif\b|\btest\b|\[|\bwhich\b|\bcommand -v\b`)
	// onPath matches a variable that is a tool of PATH.
	onPath = lazy.Regexp(`^(?:export\s+)?(CONTROLLER_GEN|KUSTOMIZE|ENVTEST)\s*(?:\?|::?)?=\s*(?:\$\(shell (?:which|command -v) ([a-z-]+)[^)]*\)|([a-z-]+))\s*(?:#.*)?$`)
	// ruleLine matches the first line of a rule, whose one target is no path: no such file is there, so make always
	// runs the recipe.
	ruleLine = lazy.Regexp(`^([\w-]+)\s*:(?:[^=:]|$)`)
	// conditional matches the lines that begin and end what make may leave out.
	conditional = lazy.Regexp(`^\s*(?:(ifn?eq|ifn?def)|endif)\b`)
)

// Obstacles are those of the Makefile in a project's folder, in its order. Without a Makefile there are none.
func Obstacles(project string) []Obstacle {
	content, err := finite.ReadFile(filepath.Join(project, "Makefile"))
	if err != nil {
		return nil
	}
	var s scan
	lines := strings.Split(string(content), "\n")
	for i := 0; i < len(lines); i++ {
		first, text := i+1, lines[i]
		for strings.HasSuffix(text, `\`) && i+1 < len(lines) {
			i++
			text = strings.TrimSuffix(text, `\`) + "\n" + lines[i]
		}
		s.read(first, text)
	}
	return s.found
}

// scan is how far a Makefile was read.
type scan struct {
	target string // of the rule whose recipe follows; "" for one that is a path
	depth  int    // of conditionals
	found  []Obstacle
}

// read reads a line together with those that continue it.
func (s *scan) read(line int, text string) {
	if strings.HasPrefix(text, "\t") {
		s.recipe(line, text)
		return
	}
	if c := conditional().FindStringSubmatch(text); c != nil {
		s.depth--
		if c[1] != "" {
			s.depth += 2
		}
		return
	}
	if v := onPath().FindStringSubmatch(text); v != nil {
		s.add(Obstacle{Line: line, Tool: v[2] + v[3]})
		return
	}
	if rule := ruleLine().FindStringSubmatch(text); rule != nil {
		s.target = rule[1]
	} else if strings.TrimSpace(text) != "" && text[0] != '#' {
		s.target = ""
	}
}

// recipe reads a line of a recipe, which installs a tool in any case or does not.
func (s *scan) recipe(line int, text string) {
	at := installation().FindStringSubmatchIndex(text)
	if at == nil || s.target == "" || s.depth > 0 || guard().MatchString(text[:at[0]]) {
		return
	}
	tool := strings.Join(installation().FindStringSubmatch(text)[1:], "")
	s.add(Obstacle{Line: line + strings.Count(text[:at[0]], "\n"), Tool: tool, Target: s.target})
}

// add adds what concerns a tool that is linked.
func (s *scan) add(o Obstacle) {
	if slices.Contains(Names(), o.Tool) {
		s.found = append(s.found, o)
	}
}

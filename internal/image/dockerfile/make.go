package dockerfile

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// maxMakes is how often make is followed: each time the Makefile is read. A line may name the project's folder maxRoots
// times.
const (
	maxMakes = 20
	maxRoots = 1000
)

// quiet are the flags of make that change nothing of what it makes.
var quiet = []string{"-s", "-B", "-k", "-w", "--silent", "--no-print-directory", "--always-make", "-j"}

// make goes through what make runs for the targets that its arguments name.
func (c *script) make(words []string) {
	overrides := map[string]string{}
	var targets []string
	for _, word := range words {
		name, value, is := strings.Cut(word, "=")
		switch {
		case strings.Contains(word, recipe.Unknown):
			c.refuse(outputs)
			return
		case slices.Contains(quiet, word) || strings.HasPrefix(word, "-j"):
		case strings.HasPrefix(word, "-"):
			c.refuse("slipway does not know make's flag " + shortened(word))
			return
		case is:
			overrides[strings.TrimRight(name, ":?")] = value
		default:
			targets = append(targets, word)
		}
	}
	for name, value := range c.Arguments {
		if _, given := overrides[name]; !given {
			overrides[name] = value
		}
	}
	if rel, in := below(c.root, c.dir); c.Files == nil || c.root == "" || !in || rel != "." {
		c.refuse("slipway follows make only in the project's folder")
		return
	}
	content, err := recipe.Read(c.Files, makefile.Name)
	if c.makes++; err != nil || c.makes > maxMakes {
		c.refuse("the project has no " + makefile.Name + " that slipway can read")
		return
	}
	texts, exported := makefile.Making(content, func(name string) string { return c.env[name] }, c.Files, makefile.Goal{Targets: targets, Variables: overrides, PassOver: generates})
	for _, text := range texts {
		if c.steps -= 1 + len(c.env) + len(exported); c.steps < 0 || strings.Count(text.Shell, recipe.Root) > maxRoots {
			c.refuse(tooMany)
			return
		}
		line := &script{stage: c.stage, node: c.node, file: text.File, line: text.Line, text: strings.ReplaceAll(text.Shell, recipe.Root, c.root), shown: text.Source,
			dir: c.dir, env: maps.Clone(c.env)}
		maps.Copy(line.env, exported)
		line.through()
	}
}

// generates reports whether lines of a recipe make code or configuration, which an image takes as they are in the
// project.
func generates(lines []recipe.Text) bool {
	for _, program := range []recipe.Program{arguments.Program(), {Name: "slipway"}} {
		if len(recipe.Calls(lines, program, nil)) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(lines, func(t recipe.Text) bool {
		return path.Base(first(strings.Fields(t.Shell))) == "go" && strings.Contains(t.Shell, "go generate")
	})
}

package dockerfile

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/recipe"
)

// goCommand goes through a call of the go command.
func (c *script) goCommand(words []string) {
	verb := words[1]
	switch {
	case verb == "build", verb == "install" && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "@") }):
		c.build(words[2:], verb == "install")
	case verb == "install": // a tool
	case verb == "env":
		for _, word := range words[2:] {
			if name, value, is := strings.Cut(word, "="); is {
				c.env[name], c.variables[name] = value, value
			}
		}
	case slices.Contains(goReads, verb):
	default:
		c.refuse("slipway runs no go " + shortened(verb))
	}
}

// build takes a call of go build, or of go install.
func (c *script) build(words []string, install bool) {
	b := buildLine{script: c, dir: c.dir, Build: Build{File: c.file, Line: c.line}}
	if cgo := c.env["CGO_ENABLED"]; cgo != "" && cgo != "0" {
		b.omit("CGO_ENABLED="+cgo, "a program with C code needs libraries, which the image does not have")
	}
	b.environment(c.env) // first, so that what the line says wins
	b.flags(words)
	if install {
		b.output = withSlash(cmp.Or(c.env["GOBIN"], "/go/bin"))
	}
	if len(b.packages) > 1 {
		b.output = withSlash(b.output)
	}
	switch {
	case strings.Contains(strings.Join(b.packages, "")+b.output+b.dir, recipe.Unknown):
		c.refuse(outputs)
	case slices.ContainsFunc(b.packages, func(pkg string) bool { return strings.Contains(pkg, "...") }):
		if b.output != "" {
			c.refuse("slipway does not know which packages these are")
		}
	case len(b.packages) == 0:
		b.place("")
	case strings.HasSuffix(b.packages[0], ".go"): // files of one package
		b.place(b.packages[0])
	default:
		for _, pkg := range b.packages {
			b.place(pkg)
		}
	}
}

// place finds out where the program comes to be, and what the package is that is named in a folder, seen from where the
// sources are.
func (b *buildLine) place(pkg string) {
	build, output := b.Build, b.output
	if output == "" || strings.HasSuffix(output, "/") || output == "." {
		called := path.Base(path.Join(b.dir, strings.TrimSuffix(pkg, ".go")))
		if folder := within(b.dir, pkg); folder == "/" || folder == b.root {
			called = b.module()
		}
		output = path.Join(output, called)
	}
	build.Package, build.Path = pkg, within(b.dir, output)
	imported := pkg != "" && pkg[0] != '.' && pkg[0] != '/' && !strings.HasSuffix(pkg, ".go")
	if rel, ok := below(b.root, within(b.dir, pkg)); ok && !imported && b.root != "" {
		build.Package = rel
	}
	b.put(b.node, placed{Copy: Copy{To: build.Path}, build: &build})
}

// module is what the go command calls the program in the module's own folder.
func (s *stage) module() string {
	if s.Files != nil {
		content, _ := recipe.Read(s.Files, "go.mod") // without one nothing is built
		if prefix, _, ok := module.SplitPathVersion(modfile.ModulePath(content)); ok && prefix != "" {
			return path.Base(prefix)
		}
	}
	return "manager"
}

package makefile

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"mvdan.cc/sh/v3/syntax"
)

// required is the version of a Go package that go.mod requires, where a command in a text has the go command build the
// package and names no version; "" where none does, or where the go.mod is not clear.
func (m *reader) required(text string, program Program, pkg string) string {
	if !strings.Contains(text, program.Name) && !strings.Contains(text, "install tool") {
		return ""
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(strings.TrimLeft(text, "@-+ \t")), "")
	if err != nil {
		return ""
	}
	dir := ""
	statements, in, unclear := inFolder(file.Stmts)
	switch {
	case unclear != "":
		return ""
	case len(statements) > 0:
		dir = in
	default:
		statements = file.Stmts
	}
	for _, command := range commands(statements) {
		words := plainWords(command)
		switch {
		case buildsUnversioned(words, program.Name, pkg):
			return m.requirement(goModFor(dir, words), requiredIn(pkg))
		case installsTools(words):
			return m.requirement(goModFor(dir, words), toolIn(pkg))
		}
		if len(command.Args) > 0 && changesFolder(command.Args[0]) {
			return ""
		}
	}
	return ""
}

// commands are the simple commands in statements, in order.
func commands(statements []*syntax.Stmt) (all []*syntax.CallExpr) {
	for _, statement := range statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			if command, ok := node.(*syntax.CallExpr); ok {
				all = append(all, command)
			}
			return true
		})
	}
	return all
}

// changesFolder reports whether the command with this name makes the next ones run elsewhere.
func changesFolder(word *syntax.Word) bool {
	name, _ := literal(word)
	return name == "cd" || name == "pushd"
}

// plainWords are the words of a command, with opaque for those that only make or the shell knows.
func plainWords(command *syntax.CallExpr) []string {
	words := make([]string, len(command.Args))
	for i, word := range command.Args {
		text, clear := literal(word)
		if !clear {
			text = opaque
		}
		words[i] = text
	}
	return words
}

// buildsUnversioned reports whether a command has the go command build a package, also as a tool of go.mod that its
// last element names.
func buildsUnversioned(words []string, name, pkg string) bool {
	verb := slices.IndexFunc(words, func(w string) bool { return slices.Contains([]string{"install", "run", "build", "tool"}, w) })
	if verb < 0 {
		return false
	}
	rest := words[verb+1:]
	return slices.Contains(rest, pkg) || words[verb] == "tool" && slices.Contains(rest, name)
}

// installsTools reports whether a command has the go command install all tools that go.mod names.
func installsTools(words []string) bool {
	verb := slices.Index(words, "install")
	return verb >= 0 && slices.Contains(words[verb+1:], "tool")
}

// goModFor is the go.mod that counts for a go command in a folder.
func goModFor(dir string, words []string) string {
	if changed, ok := flag(words, "C"); ok {
		dir = joined(dir, changed)
	}
	if file, ok := flag(words, "modfile"); ok {
		return joined(dir, file)
	}
	return joined(dir, "go.mod")
}

// joined is a path below another one; one that leads out of the project has no place in its files.
func joined(dir, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(dir, filepath.ToSlash(name))
}

// flag is the value of a flag of the go command among words.
func flag(words []string, name string) (value string, found bool) {
	for i, word := range words {
		bare := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		switch {
		case bare == word:
		case bare == name && i+1 < len(words):
			return words[i+1], true
		case strings.HasPrefix(bare, name+"="):
			return strings.TrimPrefix(bare, name+"="), true
		}
	}
	return "", false
}

// requirement is the version that a go.mod has, or one further up where there is none.
func (m *reader) requirement(name string, version func(goMod []byte) string) string {
	for {
		if !fs.ValidPath(name) || strings.Contains(name, opaque) || m.files == nil {
			return ""
		}
		content, err := m.text(name)
		if err == nil {
			return version(content)
		}
		dir, base := path.Split(name)
		if dir == "" || base != "go.mod" {
			return ""
		}
		name = path.Join(path.Dir(path.Clean(dir)), base)
	}
}

// requiredIn finds the version of the module with a package that a go.mod requires; "" if it requires none.
func requiredIn(pkg string) func(goMod []byte) string {
	return func(goMod []byte) string {
		file, err := modfile.ParseLax("go.mod", goMod, nil)
		if err != nil {
			return ""
		}
		return versionIn(file, pkg)
	}
}

// toolIn finds that version where the package is a tool of the go.mod.
func toolIn(pkg string) func(goMod []byte) string {
	return func(goMod []byte) string {
		file, err := modfile.Parse("go.mod", goMod, nil)
		if err != nil || !slices.ContainsFunc(file.Tool, func(t *modfile.Tool) bool { return t.Path == pkg }) {
			return ""
		}
		return versionIn(file, pkg)
	}
}

// versionIn is the version of the longest module path that a package's begins with.
func versionIn(file *modfile.File, pkg string) string {
	module, version := "", ""
	for _, r := range file.Require {
		if strings.HasPrefix(pkg+"/", r.Mod.Path+"/") && len(r.Mod.Path) > len(module) {
			module, version = r.Mod.Path, r.Mod.Version
		}
	}
	return version
}

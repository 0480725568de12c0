package recipe

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Version returns the version of a Go package that texts install or run, or that they leave to go.mod. It returns "" if
// none does.
func Version(texts []Text, program Program, pkg string, files fs.FS) string {
	versions := regexp.MustCompile(regexp.QuoteMeta(pkg) + `@(` + VersionPattern + `)`)
	for _, text := range texts {
		if found := versions.FindStringSubmatch(text.Shell); found != nil {
			return found[1]
		}
	}
	for _, text := range texts {
		if version := Pinned(text.Shell, text.Dir, program, pkg, files); version != "" {
			return version
		}
	}
	return ""
}

// Pinned returns the version of a Go package in go.mod if a command in text builds the package without naming a
// version. The text runs in dir. It returns "" if no command does, or if the go.mod is unknown.
func Pinned(text, dir string, program Program, pkg string, files fs.FS) string {
	if files == nil || !strings.Contains(text, program.Name) && !strings.Contains(text, "install tool") {
		return ""
	}
	f := &finder{steps: maxSteps}
	for _, e := range f.text(&Text{Dir: dir, Shell: text, Line: 1}) {
		words := e.step.words
		switch {
		case e.step.lost:
		case buildsUnversioned(words, program.Name, pkg):
			return requirement(files, goModFor(e.step.dir, words), requiredIn(pkg))
		case installsTools(words):
			return requirement(files, goModFor(e.step.dir, words), toolIn(pkg))
		}
	}
	return ""
}

// buildsUnversioned reports whether a go command builds the package pkg, or runs the go.mod tool called name.
func buildsUnversioned(words []string, name, pkg string) bool {
	verb := slices.IndexFunc(words, func(w string) bool { return slices.Contains([]string{"install", "run", "build", "tool"}, w) })
	if verb < 0 {
		return false
	}
	rest := words[verb+1:]
	return slices.Contains(rest, pkg) || words[verb] == "tool" && slices.Contains(rest, name)
}

// installsTools reports whether a command is go install tool, which installs all tools of go.mod.
func installsTools(words []string) bool {
	verb := slices.Index(words, "install")
	return verb >= 0 && slices.Contains(words[verb+1:], "tool")
}

// goModFor returns the go.mod that a go command in dir uses, or "" if that is outside the project.
func goModFor(dir string, words []string) string {
	name := "go.mod"
	if changed, ok := Flag(words, "C"); ok {
		name = path.Join(changed, name)
	}
	if file, ok := Flag(words, "modfile"); ok {
		name = file
		if changed, ok := Flag(words, "C"); ok && !strings.HasPrefix(file, Root) {
			name = path.Join(changed, file)
		}
	}
	if rel, ok := Below(dir, name); ok && !strings.Contains(rel, Unknown) {
		return rel
	}
	return ""
}

// Required returns the version that the project's go.mod requires of a module, or of a package's module, or "".
func Required(files fs.FS, name string) string { return RequiredIn(files, ".", name) }

// RequiredIn is like Required for the go.mod of a folder, or the nearest one above.
func RequiredIn(files fs.FS, dir, name string) string {
	return requirement(files, path.Join(dir, "go.mod"), requiredIn(name))
}

// Tool returns the version of a package that the project's go.mod lists as a tool, or "".
func Tool(files fs.FS, pkg string) string { return requirement(files, "go.mod", toolIn(pkg)) }

// requirement applies version to a go.mod. If that does not exist, it uses the nearest one above.
func requirement(files fs.FS, name string, version func(goMod []byte) string) string {
	for name != "" {
		if content, err := Read(files, name); err == nil {
			return version(content)
		}
		dir, base := path.Split(name)
		if dir == "" || base != "go.mod" {
			return ""
		}
		name = path.Join(path.Dir(path.Clean(dir)), base)
	}
	return ""
}

// requiredIn returns a function that finds the required version of a package's module in a go.mod, or "".
func requiredIn(pkg string) func(goMod []byte) string {
	return func(goMod []byte) string {
		file, err := modfile.ParseLax("go.mod", goMod, nil)
		if err != nil {
			return ""
		}
		return versionIn(file, pkg)
	}
}

// toolIn is like requiredIn, but only for a package that go.mod lists as a tool.
func toolIn(pkg string) func(goMod []byte) string {
	return func(goMod []byte) string {
		file, err := modfile.Parse("go.mod", goMod, nil)
		if err != nil || !slices.ContainsFunc(file.Tool, func(t *modfile.Tool) bool { return t.Path == pkg }) {
			return ""
		}
		return versionIn(file, pkg)
	}
}

// versionIn returns the version of the module with the longest path that contains the package.
func versionIn(file *modfile.File, pkg string) string {
	module, version := "", ""
	for _, r := range file.Require {
		if strings.HasPrefix(pkg+"/", r.Mod.Path+"/") && len(r.Mod.Path) > len(module) {
			module, version = r.Mod.Path, r.Mod.Version
		}
	}
	return version
}

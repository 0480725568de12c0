package recipe

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Version is the version of a Go package that a text has the go command install or run, or that it leaves to go.mod; ""
// if none does.
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

// Pinned is the version of a Go package that go.mod requires, where a command in a shell's text that runs in dir has
// the go command build the package and names no version; "" where none does, or where the go.mod is not clear.
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

// goModFor is the go.mod that counts for a go command in a folder; "" if it lies out of the project.
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

// Required is the version of a module, or of the module of a package, that the project's go.mod requires; "" without
// one.
func Required(files fs.FS, name string) string { return requirement(files, "go.mod", requiredIn(name)) }

// requirement is the version that a go.mod has, or one further up where there is none.
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

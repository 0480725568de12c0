package codebase

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/image/dockerfile"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/recipe"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Manager is a program of the project that may be its manager.
type Manager struct {
	Package string // folder, such as cmd; "." is the project's
	// Arguments start the manager, as the Makefile's target run passes them. If that starts no or another program, they
	// are the subcommand in the Dockerfile's image.
	Arguments []string
}

// A Start is how to start a manager outside a pod.
type Start struct {
	Arguments   []string
	Environment []string // NAME=VALUE
	From        []string // places of the Environment, for messages
	// Whereabouts are variables in which the Deployment puts the pod's namespace, such as WATCH_NAMESPACE.
	Whereabouts []string
}

// In is the environment of a manager that has the rights of a ServiceAccount, and thinks that it is in that namespace;
// empty: it has those of the user, and is in none.
func (s Start) In(namespace string) (environment []string) {
	if namespace == "" {
		return s.Environment
	}
	for _, name := range s.Whereabouts {
		environment = append(environment, name+"="+namespace)
	}
	return append(environment, s.Environment...)
}

// Start returns how to start a manager on the user's machine. Arguments are those of the Makefile's target run, else
// the subcommand in the manager's Deployment or image. The environment is the literal variables of the Deployment,
// which those of the target run override. Flags and patched variables of a pod are left out: they hold its paths and
// addresses. An unknown or failing Deployment is ignored. What PROJECT says of the program goes before all of these.
func (c *Codebase) Start(m Manager) (s Start, err error) {
	run, err := c.makefileRun()
	if err != nil {
		return s, err
	}
	s.Arguments = m.Arguments
	if all, err := c.Deployments(); err == nil && len(all) == 1 && all[0].Written != nil {
		d, container := all[0], all[0].Container()
		words := container.Args
		if len(container.Command) > 0 {
			words = slices.Concat(container.Command[1:], words)
		}
		if sub := subcommand(words); len(sub) > 0 && run.pkg != m.Package {
			s.Arguments = sub
		}
		for _, v := range container.Env {
			if from := v.ValueFrom; from != nil && from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace" {
				s.Whereabouts = append(s.Whereabouts, v.Name)
			}
			if v.ValueFrom == nil && slices.Contains(d.Written.Variables[d.Written.Index], v.Name) {
				s.Environment = append(s.Environment, v.Name+"="+v.Value)
			}
		}
		if len(s.Environment) > 0 {
			s.From = append(s.From, fmt.Sprintf("%s:%d", d.Written.File, d.Written.ContainerLines[d.Written.Index]))
		}
	}
	if run.pkg == m.Package && len(run.env) > 0 {
		s.Environment, s.From = append(s.Environment, run.env...), append(s.From, run.place)
	}
	if err := c.addSettings(m, &s); err != nil {
		return s, err
	}
	s.Environment = slices.DeleteFunc(s.Environment, func(pair string) bool { // the user chooses the cluster
		return strings.HasPrefix(pair, "KUBECONFIG=") || strings.HasPrefix(pair, "KUBERNETES_")
	})
	return s, nil
}

// addSettings adds what PROJECT says of how a program is run.
func (c *Codebase) addSettings(m Manager, s *Start) error {
	file, err := c.Project()
	if err != nil || file == nil {
		return nil // PROJECT says nothing; verbs that need it report why
	}
	settings, err := file.Settings()
	if err != nil {
		return settingsError(err)
	}
	for _, said := range settings.Managers {
		if path.Clean(said.Package) != m.Package {
			continue
		}
		if said.Args != nil {
			s.Arguments = said.Args
		}
		for _, name := range slices.Sorted(maps.Keys(said.Env)) {
			s.Environment = append(s.Environment, name+"="+said.Env[name])
		}
		if len(said.Env) > 0 {
			s.From = append(s.From, fmt.Sprintf("%s:%d", project.FileName, said.Line))
		}
	}
	return nil
}

// settingsError is a mistake in the settings, as users read it.
func settingsError(err error) error {
	e, ok := errors.AsType[*project.FieldError](err)
	if !ok {
		return err
	}
	return &report.Error{Class: report.BadProject, What: e.Summary(), Where: fmt.Sprintf("%s:%d:%d", project.FileName, e.Line, e.Column), Hint: "expected " + cmp.Or(e.Expected, "managers with package, args and env")}
}

// Managers returns the programs that may be the project's manager, or a single one if that is certain. It tries what
// the Dockerfile builds, what the Makefile's target run starts, cmd, and the project's folder. If none of these is
// certain, it returns the main packages in the folders of cmd. There, files that build tags exclude do not count.
func (c *Codebase) Managers() ([]Manager, error) { return c.managers() }

// Manager returns the project's manager. If several programs may be it, choose supplies the hint of the error for one
// of them.
func (c *Codebase) Manager(choose func(pkg string) *report.Error) (Manager, error) {
	all, err := c.Managers()
	switch {
	case err != nil:
		return Manager{}, err
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return Manager{}, &report.Error{Class: report.BadProject, What: "the project has no main package of a manager",
			Hint: "expected it in cmd, in the project's folder, in the only folder of cmd, or where the Dockerfile builds it", Next: ListMains}
	}
	var packages []string
	for _, m := range all {
		packages = append(packages, m.Package)
	}
	e := choose(packages[0])
	e.What, e.Where, e.Code = "the project has several main packages", strings.Join(packages, ", "), report.UsageCode
	return Manager{}, e
}

// ListMains lists a module's main packages.
const ListMains = `go list -f '{{if eq .Name "main"}}{{.Dir}}{{end}}' ./...`

// Choose makes the program of a package the manager, as the flag --manager does. It must be called before
// [Codebase.Managers]; "" chooses none.
func (c *Codebase) Choose(pkg string) error {
	if pkg == "" {
		return nil
	}
	if c.chosen = c.Folder(pkg); c.IsMain(c.chosen) {
		return nil
	}
	refused := &report.Error{What: "the project has no main package in this folder", Where: "--manager " + pkg, Hint: "name the folder of the manager's main package, such as cmd"}
	c.chosen = ""
	if managers, err := c.Managers(); err == nil && len(managers) > 0 {
		refused.Hint = "the project has one in " + managers[0].Package
	}
	return refused
}

// As returns the codebase of another view of the same project, with the same chosen manager.
func (c *Codebase) As(view fileview.View) *Codebase {
	other := Read(view, c.getenv)
	other.chosen = c.chosen
	return other
}

func (c *Codebase) readManagers() ([]Manager, error) {
	built, image, err := c.dockerfileProgram()
	if err != nil {
		return nil, err
	}
	run, err := c.makefileRun()
	if err != nil {
		return nil, err
	}
	var all []Manager
	candidates := []string{c.chosen}
	if c.chosen == "" {
		candidates = c.mainPackages(built, run.pkg)
	}
	for _, pkg := range candidates {
		switch {
		case pkg == run.pkg:
			all = append(all, Manager{Package: pkg, Arguments: run.arguments})
		case pkg == built:
			all = append(all, Manager{Package: pkg, Arguments: subcommand(image[min(1, len(image)):])})
		default:
			all = append(all, Manager{Package: pkg})
		}
	}
	return all, nil
}

// mainPackages returns the folders that may hold the manager's main package. The first main package in named is
// certain.
func (c *Codebase) mainPackages(named ...string) (found []string) {
	for _, pkg := range named {
		if c.IsMain(pkg) { // tags do not matter: the command sets them
			return []string{pkg}
		}
	}
	for _, pkg := range []string{"cmd", "."} {
		if c.buildsMain(pkg) {
			return []string{pkg}
		}
	}
	entries, err := c.view.ReadDir("cmd")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if pkg := path.Join("cmd", e.Name()); e.IsDir() && c.buildsMain(pkg) {
			found = append(found, pkg)
		}
	}
	return found
}

// dockerfileProgram returns the folder of the first package that the Dockerfile builds, or "", and the words that start
// its image.
func (c *Codebase) dockerfileProgram() (pkg string, words []string, err error) {
	content, err := c.readLimited("Dockerfile", dockerfile.MaxSize)
	if err != nil {
		return "", nil, err
	}
	recipe, err := dockerfile.Read(string(content), dockerfile.Options{Files: c.view})
	if err != nil || len(recipe.Programs) == 0 { // an unusable Dockerfile decides nothing
		return "", nil, nil
	}
	return c.Folder(recipe.Programs[0].Package), slices.Concat(recipe.Entrypoint, recipe.Command), nil
}

// subcommand returns the words before the first flag. A pod's flags hold its paths and addresses.
func subcommand(words []string) []string {
	if flags := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") }); flags >= 0 {
		return words[:flags]
	}
	return words
}

// A goRun is the go run command of the Makefile's target run.
type goRun struct {
	pkg            string // folder, or ""
	arguments, env []string
	place          string
}

func (c *Codebase) makefileRun() (run goRun, err error) {
	content, err := c.makefile()
	if err != nil {
		return run, err
	}
	program := recipe.Program{Name: "go", Variable: "GO"}
	for _, call := range recipe.Calls(makefile.Texts(content, c.getenv, c.view, program), program, nil) {
		words := call.Arguments
		if call.Target != "run" || call.Dir != "" || len(words) == 0 || words[0] != "run" {
			continue
		}
		isPackage := func(word string) bool { return strings.HasPrefix(word, ".") || strings.HasSuffix(word, ".go") }
		at := slices.IndexFunc(words, isPackage)
		if at < 0 {
			continue
		}
		run = goRun{pkg: c.Folder(words[at]), env: call.Env, place: fmt.Sprintf("%s:%d", call.File, call.Line)}
		for at++; at < len(words) && strings.HasSuffix(words[at], ".go"); {
			at++
		}
		run.arguments = words[at:]
		return run, nil
	}
	return run, nil
}

// Folder returns the folder of a package as the go command takes it: ./cmd, cmd/main.go or an import path. It returns
// "" for one outside the project.
func (c *Codebase) Folder(pkg string) string {
	if pkg = filepath.ToSlash(pkg); strings.HasSuffix(pkg, ".go") {
		pkg = path.Dir(pkg)
	}
	mod, _ := c.view.ReadFile("go.mod") // without go.mod, no import path is in the project
	if module := modfile.ModulePath(mod); module != "" && (pkg == module || strings.HasPrefix(pkg, module+"/")) {
		pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	}
	if pkg = path.Clean(pkg); fs.ValidPath(pkg) {
		return pkg
	}
	return ""
}

// readLimited returns the content of a file of at most most bytes, or nothing if it does not exist.
func (c *Codebase) readLimited(name string, most int64) ([]byte, error) {
	info, err := c.view.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Size() > most {
		err = fs.ErrInvalid
	}
	var content []byte
	if err == nil {
		content, err = c.view.ReadFile(name)
	}
	if err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "the file cannot be read", Where: name, Err: err}
	}
	return content, nil
}

// IsMain reports whether a folder has a main package for any system and any build tags.
func (c *Codebase) IsMain(dir string) bool {
	return dir != "" && slices.ContainsFunc(c.GoFilesIn(dir), c.isMain)
}

// buildsMain reports whether a folder has a file of package main that is built for Linux or for this system.
func (c *Codebase) buildsMain(dir string) bool {
	return slices.ContainsFunc(c.GoFilesIn(dir), func(name string) bool { return c.isMain(name) && c.isBuilt(name) })
}

// GoFilesIn returns the Go files in a folder without tests, relative to the project.
func (c *Codebase) GoFilesIn(dir string) (files []string) {
	entries, err := c.view.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !e.IsDir() {
			files = append(files, path.Join(dir, name))
		}
	}
	return files
}

func (c *Codebase) isMain(file string) bool {
	source, err := c.view.ReadFile(file)
	if err != nil {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, source, parser.PackageClauseOnly)
	return err == nil && f.Name.Name == "main"
}

// isBuilt reports whether a file's name and build tags include it on Linux or here. Unreadable files count: the
// compiler reports them.
func (c *Codebase) isBuilt(file string) bool {
	for _, system := range []string{"linux", runtime.GOOS} {
		settings := build.Default
		settings.GOOS, settings.CgoEnabled = system, false
		settings.JoinPath = path.Join
		settings.OpenFile = func(name string) (io.ReadCloser, error) {
			text, err := c.view.ReadFile(filepath.ToSlash(name))
			return io.NopCloser(bytes.NewReader(text)), err
		}
		if in, err := settings.MatchFile(path.Split(file)); in || err != nil {
			return true
		}
	}
	return false
}

package codebase

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
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
)

// A Manager is a program of the project that may be its manager.
type Manager struct {
	Package string // its folder, such as cmd; "." is the project's own
	// Arguments start it: those of the Makefile's target run or, where that starts another program or none, the
	// subcommand of the image that the Dockerfile describes.
	Arguments []string
}

// A Start is how a manager is started on a machine that is no pod.
type Start struct {
	Arguments   []string
	Environment []string // NAME=VALUE
	From        []string // the places that say so
}

// Start is how the project starts a manager: with arguments and variables as the Makefile's target run has them and,
// where that leaves them open, with the subcommand and the plain variables of its Deployment, or the subcommand of its
// image. Flags of a pod, and variables that only patches add, have its paths and addresses. What is deployed may be
// unknown, or not build: then it says nothing.
func (c *Codebase) Start(m Manager) (s Start, err error) {
	run, err := c.started()
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
	s.Environment = slices.DeleteFunc(s.Environment, func(pair string) bool { // the cluster is the user's choice
		return strings.HasPrefix(pair, "KUBECONFIG=") || strings.HasPrefix(pair, "KUBERNETES_")
	})
	return s, nil
}

// Managers are the programs that may be the project's manager, and the only one if it is certain: what the Dockerfile
// builds, or else what the Makefile's target run starts, or else the package in cmd or in the project's own folder, as
// layouts have it. Without these they are the main packages in the folders of cmd. Files that build tags leave out do
// not count.
func (c *Codebase) Managers() ([]Manager, error) { return c.managers() }

// Manager is the program that is the project's manager. Choose is what the user does where several may be, as in "name
// one, as in: …".
func (c *Codebase) Manager(choose func(pkg string) *report.Error) (Manager, error) {
	all, err := c.Managers()
	switch {
	case err != nil:
		return Manager{}, err
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return Manager{}, &report.Error{What: "the project has no main package of a manager", Code: 2,
			Hint: "expected it in cmd, in the project's folder, in the only folder of cmd, or where the Dockerfile builds it", Next: ListMains}
	}
	var packages []string
	for _, m := range all {
		packages = append(packages, m.Package)
	}
	e := choose(packages[0])
	e.What, e.Where = "the project has several main packages", strings.Join(packages, ", ")
	return Manager{}, e
}

// ListMains is the command that lists a module's main packages.
const ListMains = `go list -f '{{if eq .Name "main"}}{{.Dir}}{{end}}' ./...`

// Choose makes the program of a package the manager, as --manager names it, whatever else the project has. It is called
// before [Codebase.Managers]; "" chooses none.
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

// As reads another view of the same project.
func (c *Codebase) As(view fileview.View) *Codebase {
	other := Read(view, c.getenv)
	other.chosen = c.chosen
	return other
}

func (c *Codebase) readManagers() ([]Manager, error) {
	built, image, err := c.built()
	if err != nil {
		return nil, err
	}
	run, err := c.started()
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

// mainPackages are the folders of the main packages among which the manager's is. Those named are certain.
func (c *Codebase) mainPackages(named ...string) (found []string) {
	for _, pkg := range named {
		if c.IsMain(pkg) { // whatever its tags: the command has them
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

// built is the folder of the package that the Dockerfile builds, or "", and the words with which its image starts it.
func (c *Codebase) built() (pkg string, words []string, err error) {
	content, err := c.small("Dockerfile", dockerfile.MaxSize)
	if err != nil {
		return "", nil, err
	}
	recipe, err := dockerfile.Read(string(content), dockerfile.Options{Files: c.view})
	if err != nil || len(recipe.Programs) == 0 { // what no builder takes says nothing
		return "", nil, nil
	}
	return c.Folder(recipe.Programs[0].Package), slices.Concat(recipe.Entrypoint, recipe.Command), nil
}

// subcommand are the arguments before the first flag. What follows that is for a pod: paths and addresses.
func subcommand(words []string) []string {
	if flags := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") }); flags >= 0 {
		return words[:flags]
	}
	return words
}

// A goRun is how the Makefile's target run starts a program with the go command.
type goRun struct {
	pkg            string // its folder, or ""
	arguments, env []string
	place          string
}

func (c *Codebase) started() (run goRun, err error) {
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

// Folder is the folder of a package that a go command names in the project's folder, such as ./cmd, cmd/main.go or the
// package's path. It is "" for one outside of the project.
func (c *Codebase) Folder(pkg string) string {
	if pkg = filepath.ToSlash(pkg); strings.HasSuffix(pkg, ".go") {
		pkg = path.Dir(pkg)
	}
	mod, _ := c.view.ReadFile("go.mod") // without one nothing is in it
	if module := modfile.ModulePath(mod); module != "" && (pkg == module || strings.HasPrefix(pkg, module+"/")) {
		pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	}
	if pkg = path.Clean(pkg); fs.ValidPath(pkg) {
		return pkg
	}
	return ""
}

// small is the content of a file that people write, or nothing where there is none. One that is larger than such files
// are is refused.
func (c *Codebase) small(name string, most int64) ([]byte, error) {
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
		return nil, &report.Error{What: "the file cannot be read", Where: name, Err: err}
	}
	return content, nil
}

// IsMain reports whether a folder of the project has a main package: of any system, with any tags.
func (c *Codebase) IsMain(dir string) bool {
	return dir != "" && slices.ContainsFunc(c.GoFilesIn(dir), c.isMain)
}

// buildsMain reports whether a folder has a file of a main package that is built for Linux or here.
func (c *Codebase) buildsMain(dir string) bool {
	return slices.ContainsFunc(c.GoFilesIn(dir), func(name string) bool { return c.isMain(name) && c.isBuilt(name) })
}

// GoFilesIn are the Go files of the package in a folder, without its tests.
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

// isBuilt reports whether a file's name and build tags let it in. The compiler reports one that cannot be read.
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

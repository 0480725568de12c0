package feature

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
	"github.com/slipway-dev/slipway/project"
)

// InNamespace makes the manager watch its own namespace only, with permissions there alone, or the whole cluster again.
func InNamespace(on bool) func(*plan.Plan, *project.Project) error {
	return func(p *plan.Plan, file *project.Project) error {
		file.Namespaced = on
		byMarkers, err := manager.RolesByMarkers(p)
		if err != nil || byMarkers && on {
			return err
		}
		if byMarkers {
			return &report.Error{
				Class: report.BadProject,
				What:  "markers limit the permissions to one namespace", Where: manager.RoleBindingFile,
				Hint: "nothing was changed; remove namespace= from the +kubebuilder:rbac markers, make the RoleBinding a ClusterRoleBinding, and remove WATCH_NAMESPACE from config/manager with the code of the manager that reads it",
			}
		}
		if !on {
			return Disable(features.Namespaced)(p, file)
		}
		return Enable(features.Namespaced)(p, file)
	}
}

// planWatching makes a manager of another tool watch the namespaces that the variable WATCH_NAMESPACE lists.
func (p *planner) planWatching() error {
	options, err := p.optionsFile()
	if err != nil || options == "" {
		return err
	}
	c, err := p.Find(options)
	if err != nil {
		return err
	}
	pkg, _, err := gofile.Parse(options, c.After(), parser.PackageClauseOnly)
	if err != nil {
		return err
	}
	function, err := templates.Render("features-watch/namespaces.go", map[string]any{"Boilerplate": p.header, "Package": pkg.Name.Name})
	if err != nil {
		return err
	}
	option := watchedNamespaces{string(function)}
	if _, err := option.Insert(options, c.After()); err != nil && !p.Recording() {
		return err // with a line of the file as its author has it
	}
	if err := p.Create(namespacesFile(options), function); err != nil {
		return err
	}
	return p.Insert(options, plan.These(piece.Import{Path: "sigs.k8s.io/controller-runtime/pkg/cache", Module: p.project.Repo}, option))
}

// namespacesFile is the file of the function that the manager's options in a file call.
func namespacesFile(options string) string { return path.Join(path.Dir(options), "namespaces.go") }

// watchingFiles returns that file, if the manager's options are found.
func (p *planner) watchingFiles() []string {
	options, err := p.optionsFile()
	if err != nil || options == "" {
		return nil
	}
	return []string{namespacesFile(options)}
}

// optionsFile returns the file with the manager's options, or "" if the manager reads WATCH_NAMESPACE already.
func (p *planner) optionsFile() (options string, err error) {
	files, err := managerFiles(p.Plan, p.project)
	if err != nil {
		return "", err
	}
	for _, file := range files {
		c, err := p.Find(file)
		if err != nil {
			return "", err
		}
		if codebase.ReadsVariable(c.After(), "WATCH_NAMESPACE") {
			return "", nil
		}
		if c.There() && options == "" && managerOptions(c.After()) != nil {
			options = file
		}
	}
	if options != "" || p.Recording() {
		return options, nil
	}
	return "", &report.Error{
		Class: report.BadProject,
		What:  "the manager's options are not a ctrl.Options{ … } where it is made", Where: files[len(files)-1] + ":1",
		Hint: "nothing was changed; let the manager watch the namespaces in WATCH_NAMESPACE: add this to its options before it is made and run the command again:\n" + watchingCode,
	}
}

// managerFiles returns the files that may contain the manager's options, the likeliest last.
func managerFiles(p *plan.Plan, of *project.Project) ([]string, error) {
	files := []string{"cmd/main.go", "main.go", manager.FlagsFile}
	main, err := manager.Find(p, of)
	return append(files, cmp.Or(main.File, of.MainFile())), err
}

// watchingCode is what the user adds by hand if the options are not found.
const watchingCode = `import "os"
import "strings"
import "sigs.k8s.io/controller-runtime/pkg/cache"
if list := os.Getenv("WATCH_NAMESPACE"); list != "" {
	options.Cache.DefaultNamespaces = map[string]cache.Config{}
	for _, name := range strings.Split(list, ",") {
		options.Cache.DefaultNamespaces[name] = cache.Config{}
	}
}`

const (
	watchedOption = "Cache: cache.Options{DefaultNamespaces: " + watchingCall + "},"
	watchingCall  = "watchedNamespaces()"
)

// watchedNamespaces is the piece that sets the option in the manager's options. The option calls the function, which is
// in a file of its own.
type watchedNamespaces struct{ function string }

// ID implements [plan.Piece].
func (watchedNamespaces) ID() string { return watchedOption }

// Insert implements [plan.Piece]. It refuses options that configure the cache already.
func (w watchedNamespaces) Insert(file string, src []byte) ([]byte, error) {
	if bytes.Contains(src, []byte(watchingCall)) {
		return src, nil
	}
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	literal := optionsIn(parsed)
	if literal == nil {
		return src, nil
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Cache" {
			return nil, &report.Error{
				Class: report.BadProject,
				What:  "the manager sets options of its cache", Where: fmt.Sprintf("%s:%d", file, fset.Position(key.Pos()).Line),
				Hint: "nothing was changed; add this line to the cache options, with a file namespaces.go beside this one, and run the command again:\n" +
					"DefaultNamespaces: watchedNamespaces(), // of the variable WATCH_NAMESPACE\n\n" + w.function,
			}
		}
	}
	at := fset.Position(literal.Lbrace).Offset + 1
	return slices.Concat(src[:at], []byte("\n"+watchedOption), src[at:]), nil
}

// watchedLine matches the option as gofmt aligns it.
var watchedLine = lazy.Regexp(`\n[ \t]*Cache:[ \t]+cache\.Options\{DefaultNamespaces: watchedNamespaces\(\)\},[ \t]*(\n|[^/ \t])`)

// Remove implements [plan.Piece].
func (w watchedNamespaces) Remove(src []byte) ([]byte, int) {
	out := watchedLine().ReplaceAll(src, []byte("$1"))
	if i := bytes.Index(out, []byte(watchingCall)); i >= 0 {
		return out, 1 + bytes.Count(out[:i], []byte("\n"))
	}
	return out, 0
}

// managerOptions returns the literal of the manager's options in a file, or nil.
func managerOptions(src []byte) *ast.CompositeLit {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	return optionsIn(file)
}

func optionsIn(file *ast.File) *ast.CompositeLit {
	var found *ast.CompositeLit
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok || found != nil {
			return found == nil
		}
		name, ok := literal.Type.(*ast.SelectorExpr)
		if !ok || name.Sel.Name != "Options" {
			return true
		}
		if pkg, ok := name.X.(*ast.Ident); ok && (pkg.Name == "ctrl" || pkg.Name == "manager") {
			found = literal
		}
		return true
	})
	return found
}

package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// InNamespace has the manager watch its own namespace, with permissions there alone, or the
// whole cluster again.
func InNamespace(on bool) Edit {
	return func(e *editPlan) error {
		e.project.Namespaced = on
		byMarkers, err := e.rolesByMarkers()
		if err != nil || byMarkers && on {
			return err
		}
		if byMarkers {
			return &report.Error{
				What: "permissions are those of one namespace because their markers say so", Where: roleBindingFile,
				Hint: "nothing was changed; take namespace= out of the +kubebuilder:rbac markers, make the RoleBinding a ClusterRoleBinding, and remove WATCH_NAMESPACE from config/manager",
			}
		}
		if !on {
			return Disable(Namespaced)(e)
		}
		if err := e.watchNamespaces(); err != nil {
			return err
		}
		return Enable(Namespaced)(e)
	}
}

const roleBindingFile = "config/rbac/role_binding.yaml"

var bindsRole = regexp.MustCompile(`(?m)^kind:\s*RoleBinding\s*$`)

// rolesByMarkers reports whether the project was made by another tool for one namespace:
// then each permission marker names it.
func (p *Plan) rolesByMarkers() (bool, error) {
	c, err := p.find(roleBindingFile)
	if err != nil {
		return false, err
	}
	return c.there() && bindsRole.Match(c.after), nil
}

// watchNamespaces lets the manager watch the namespaces that the variable WATCH_NAMESPACE lists,
// where it does not yet, which is in projects of other tools.
func (e *editPlan) watchNamespaces() error {
	files := []string{"cmd/main.go", "main.go", "internal/manager/flags.go"}
	options := ""
	for _, file := range files {
		c, err := e.find(file)
		if err != nil {
			return err
		}
		if bytes.Contains(c.after, []byte("WATCH_NAMESPACE")) {
			return nil
		}
		if c.there() && options == "" && managerOptions(c.after) != nil {
			options = file
		}
	}
	if options == "" {
		return &report.Error{
			What: "no ctrl.Options{ … } of a manager was found", Where: files[0] + ":1",
			Hint: "nothing was changed; have the manager watch what the variable WATCH_NAMESPACE lists, with this among its options, and run the command again:\n" + watchedOption,
		}
	}
	a := &apiPlan{Plan: e.Plan, project: e.project}
	if err := a.readHeader(); err != nil {
		return err
	}
	c, err := e.find(options)
	if err != nil {
		return err
	}
	pkg, _, err := parseGo(options, c.after, parser.PackageClauseOnly)
	if err != nil {
		return err
	}
	data := map[string]any{"Boilerplate": a.header, "Package": pkg.Name.Name}
	if err := e.createFrom("features-watch/namespaces.go", path.Join(path.Dir(options), "namespaces.go"), data); err != nil {
		return err
	}
	return e.edit(options, these(goImport{path: "sigs.k8s.io/controller-runtime/pkg/cache", module: e.project.Repo}, watchedNamespaces{}).put)
}

// watchedOption is what a manager's options need.
const watchedOption = "Cache: cache.Options{DefaultNamespaces: watchedNamespaces()},"

// watchedNamespaces is that option, in the manager's options.
type watchedNamespaces struct{}

func (watchedNamespaces) id() string { return watchedOption }

func (watchedNamespaces) put(file string, src []byte) ([]byte, error) {
	if bytes.Contains(src, []byte("watchedNamespaces()")) {
		return src, nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		return nil, &report.Error{What: "the file is not Go that can be read", Where: file + ":1", Hint: "nothing was changed", Err: err}
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
				What: "the manager has options for its cache", Where: fmt.Sprintf("%s:%d", file, fset.Position(key.Pos()).Line),
				Hint: "nothing was changed; add this to them and run the command again:\nDefaultNamespaces: watchedNamespaces(), // of the variable WATCH_NAMESPACE",
			}
		}
	}
	at := fset.Position(literal.Lbrace).Offset + 1
	return slices.Concat(src[:at], []byte("\n"+watchedOption), src[at:]), nil
}

func (watchedNamespaces) take(src []byte) ([]byte, int) {
	return []byte(strings.Replace(string(src), watchedOption+"\n", "", 1)), 0
}

// managerOptions is the literal of a manager's options in a file, or nil.
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

package newwebhook

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// checkVersions refuses what the project's controller-runtime does not have.
func (w *planner) checkVersions() error {
	if err := w.versions.CheckWebhooks(); err != nil {
		return err
	}
	if w.options.DefaultingPath != "" || w.options.ValidationPath != "" {
		return w.versions.CheckPaths()
	}
	return nil
}

// besideTypes reports whether the webhooks are in the package of their types.
func (w *planner) besideTypes() bool { return w.project.WebhooksBesideTypes(w.resource) }

// typeName is the kind's Go type in the webhooks' package, in a file that has a name for the package of types.
func (w *planner) typeName(alias string) string {
	if w.besideTypes() {
		return w.resource.Kind
	}
	return alias + "." + w.resource.Kind
}

// typesAlias is the name of the package of types in a file of the webhooks, whose author may have chosen it.
func (w *planner) typesAlias(file string) string {
	c, err := w.Find(file)
	if err != nil {
		return w.resource.ImportAlias() // whoever writes the file reports it
	}
	return gofile.ImportsOf(c.After()).Name(w.project.ImportPath(w.resource), w.resource.ImportAlias())
}

// importTypes has a file import the package of types for a declaration.
func (w *planner) importTypes(file string, user piece.Declaration) []plan.Piece {
	if w.besideTypes() {
		return nil
	}
	of := piece.Import{Name: w.typesAlias(file), Path: w.project.ImportPath(w.resource), Module: w.project.Repo}
	return []plan.Piece{piece.ImportFor{Import: of, User: user}}
}

// setupName is the function that sets the webhooks up: a method of the kind in a package of types, which may hold
// several kinds.
func (w *planner) setupName() string {
	if w.besideTypes() {
		return "SetupWebhookWithManager"
	}
	return "Setup" + w.resource.Kind + "WebhookWithManager"
}

// setupCall is the beginning of that function's call in a file with these imports, and the package that the file
// imports for it.
func (w *planner) setupCall(imports gofile.Imports) (alias, pkg, call string) {
	if w.besideTypes() {
		pkg = w.project.ImportPath(w.resource)
		alias = imports.Name(pkg, w.resource.ImportAlias())
		return alias, pkg, fmt.Sprintf("(&%s.%s{}).SetupWebhookWithManager(", alias, w.resource.Kind)
	}
	pkg = path.Join(w.project.Repo, w.project.WebhookDir(w.resource))
	alias = imports.Name(pkg, "webhook"+w.webhookAlias())
	return alias, pkg, fmt.Sprintf("%s.Setup%sWebhookWithManager(", alias, w.resource.Kind)
}

// isMethod reports whether a webhook is a method of the kind itself, which older versions of controller-runtime call:
// that one stays.
func (w *planner) isMethod(file, name string) (bool, error) {
	if !w.versions.MethodWebhooks() {
		return false, nil
	}
	return w.hasMethod(file, name)
}

// hasMethod reports whether a file declares a method of the kind.
func (w *planner) hasMethod(file, name string) (bool, error) {
	c, err := w.Find(file)
	if err != nil {
		return false, err
	}
	method := regexp.MustCompile(`(?m)^func \((\w+ )?\*?` + w.resource.Kind + `\) ` + name + `\(`)
	return c.OnDisk() && method.Match(c.Before()), nil
}

// testImports are imports for tests.
func (w *planner) testImports(paths ...string) []plan.Piece {
	if !strings.HasPrefix(w.versions.TestContext(), "t.") {
		paths = append(paths, "context")
	}
	return w.goImports(paths...)
}

// ownPackage stands for the package that code is in, where code names a package.
const ownPackage = "\x00"

// besidePieces are what a suite in the package of the types does: it registers these, and not the kind's other
// versions, which may import them.
func (w *planner) besidePieces(scheme, setup string) []plan.Piece {
	call := "(&" + w.resource.Kind + "{}).SetupWebhookWithManager"
	return []plan.Piece{
		piece.Fragment{Marker: "scheme", Code: strings.ReplaceAll(scheme, ownPackage+".", ""), Key: "AddToScheme("},
		piece.Fragment{Marker: "webhook", Code: fmt.Sprintf(setup, call, w.resource.Kind), Key: call},
	}
}

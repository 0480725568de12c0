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

// checkVersions refuses what the project's controller-runtime does not support.
func (w *planner) checkVersions() error {
	if err := w.versions.CheckWebhooks(); err != nil {
		return err
	}
	if w.options.DefaultingPath != "" || w.options.ValidationPath != "" {
		return w.versions.CheckPaths()
	}
	return nil
}

func (w *planner) besideTypes() bool { return w.project.WebhooksBesideTypes(w.resource) }

// typeName is the kind's Go type in a file of the webhooks' package. Alias is the types' package there.
func (w *planner) typeName(alias string) string {
	if w.besideTypes() {
		return w.resource.Kind
	}
	return alias + "." + w.resource.Kind
}

// typesAlias is the name under which a file imports the package of the types.
func (w *planner) typesAlias(file string) string {
	c, err := w.Find(file)
	if err != nil {
		return w.resource.ImportAlias() // whoever writes the file reports it
	}
	return gofile.ImportsOf(c.After()).Name(w.project.ImportPath(w.resource), w.resource.ImportAlias())
}

// importTypes returns the import of the types for a declaration.
func (w *planner) importTypes(file string, user piece.Declaration) []plan.Piece {
	if w.besideTypes() {
		return nil
	}
	of := piece.Import{Name: w.typesAlias(file), Path: w.project.ImportPath(w.resource), Module: w.project.Repo}
	return []plan.Piece{piece.ImportFor{Import: of, User: user}}
}

// setupName is the function that sets the webhooks up. In a package of types, which may have several kinds, it is a
// method of the kind.
func (w *planner) setupName() string {
	if w.besideTypes() {
		return "SetupWebhookWithManager"
	}
	return "Setup" + w.resource.Kind + "WebhookWithManager"
}

// setupCall returns the beginning of that function's call, and the import that it needs.
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

// isMethod reports whether a webhook is a method of the kind, as older versions of controller-runtime call it. Such a
// method stays.
func (w *planner) isMethod(file, name string) (bool, error) {
	if !w.versions.MethodWebhooks() {
		return false, nil
	}
	return w.hasMethod(file, name)
}

func (w *planner) hasMethod(file, name string) (bool, error) {
	c, err := w.Find(file)
	if err != nil {
		return false, err
	}
	method := regexp.MustCompile(`(?m)^func \((\w+ )?\*?` + w.resource.Kind + `\) ` + name + `\(`)
	return c.OnDisk() && method.Match(c.Before()), nil
}

// testImports is [planner.goImports] with the package context, if tests of the project's Go version need it.
func (w *planner) testImports(paths ...string) []plan.Piece {
	if !strings.HasPrefix(w.versions.TestContext(), "t.") {
		paths = append(paths, "context")
	}
	return w.goImports(paths...)
}

// ownPackage stands for the name of the package that the code is in.
const ownPackage = "\x00"

// besidePieces returns the pieces for a suite in the package of the types. They register this version only: other
// versions may import the package.
func (w *planner) besidePieces(scheme, setup string) []plan.Piece {
	call := "(&" + w.resource.Kind + "{}).SetupWebhookWithManager"
	return []plan.Piece{
		piece.Fragment{Marker: "scheme", Code: strings.ReplaceAll(scheme, ownPackage+".", ""), Key: "AddToScheme("},
		piece.Fragment{Marker: "webhook", Code: fmt.Sprintf(setup, call, w.resource.Kind), Key: call},
	}
}

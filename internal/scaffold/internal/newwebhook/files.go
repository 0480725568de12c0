package newwebhook

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
	"github.com/slipway-dev/slipway/project"
)

func (w *planner) plan() error {
	if done, err := w.checkElsewhere(); done || err != nil {
		return err
	}
	w.record()
	for _, step := range w.steps() {
		if err := step(); err != nil {
			return err
		}
	}
	if err := projectfile.Write(w.Plan, w.project); err != nil {
		return err
	}
	if !w.Refused() && w.Empty() {
		w.NothingToDo(fmt.Sprintf("the project has these webhooks of %s %s, in %s, already", w.resource.APIVersion(), w.resource.Kind, w.project.WebhookFile(w.resource)))
		return nil
	}
	return w.Finish()
}

// steps plan what the webhooks consist of, except their entry in PROJECT. Deleting them runs the steps again with a
// plan that records.
func (w *planner) steps() []func() error {
	steps := []func() error{w.planCode, w.planTests, w.planMain, w.planReadiness, w.planModules, w.warnOfMarkers}
	if w.options.Conversion {
		steps = append(steps, w.planConversion)
	}
	return append(steps, w.planFeatures)
}

// planCode plans the file of the webhooks: the function that sets them up, and each of them.
func (w *planner) planCode() error {
	if others, err := w.setUpByOthers(); others || err != nil {
		return err
	}
	file := w.project.WebhookFile(w.resource)
	if err := w.RequireFrom("webhook/webhook.go", file, w.data(file)); err != nil {
		return err
	}
	if own, err := w.isMethod(file, "Default"); err != nil {
		return err
	} else if w.made().Defaulting && !own {
		if err := w.putWebhook(file, "Default", w.options.DefaultingPath, w.logs("context")...); err != nil {
			return err
		}
	}
	if own, err := w.isMethod(file, "ValidateCreate"); err != nil {
		return err
	} else if w.made().Validation && !own {
		return w.putWebhook(file, "Validat", w.options.ValidationPath, "context", "reflect",
			"k8s.io/apimachinery/pkg/api/errors", "k8s.io/apimachinery/pkg/runtime/schema", "k8s.io/apimachinery/pkg/util/validation/field",
			"sigs.k8s.io/controller-runtime/pkg/webhook/admission")
	}
	return nil
}

// putWebhook adds a defaulter or validator to the file and to the chain that builds the webhooks. Stem is "Default" or
// "Validat".
func (w *planner) putWebhook(file, stem, customPath string, imports ...string) error {
	suffix := stem + map[string]string{"Default": "er", "Validat": "or"}[stem]
	name := w.webhookType(suffix)
	code, err := templates.Render("webhook/"+map[string]string{"Default": "defaulter.go", "Validat": "validator.go"}[stem], w.data(file))
	if err != nil {
		return err
	}
	if !w.versions.TypedWebhooks() {
		imports = append(imports, "fmt", "k8s.io/apimachinery/pkg/runtime")
	}
	if stem == "Validat" && w.versions.Slices() {
		imports = append(imports, "slices")
	}
	calls := []plan.Piece{piece.BuilderCall{Function: w.setupName(), Method: "With" + suffix, Argument: "&" + name + "{}"}}
	if customPath != "" {
		calls = append(calls, piece.BuilderCall{Function: w.setupName(), Method: "With" + suffix + "CustomPath", Argument: fmt.Sprintf("%q", customPath)})
	}
	calls = append(calls, piece.OldPathsArgument{Kind: w.resource.Kind, Argument: "&" + name + "{}"})
	return w.Insert(file, func(src []byte) []plan.Piece {
		of, own := w.importsFor(src, piece.Declaration{Name: name, Code: string(code)}, imports...)
		return append(append(append(of, w.importTypes(file, own)...), calls...), own)
	})
}

// importNames are the templates' names of packages that differ from the last element of the path.
var importNames = map[string]string{
	"k8s.io/apimachinery/pkg/api/errors":   "apierrors",
	"k8s.io/apimachinery/pkg/util/runtime": "utilruntime",
	"sigs.k8s.io/controller-runtime":       "ctrl",
}

// goImports returns imports under the names that the templates use.
func (w *planner) goImports(paths ...string) []plan.Piece {
	var imports []plan.Piece
	for _, p := range paths {
		imports = append(imports, piece.Import{Name: importNames[p], Path: p, Module: w.project.Repo})
	}
	return imports
}

// importsFor returns the declaration with the names that packages have in the file, and the imports that it needs.
func (w *planner) importsFor(src []byte, user piece.Declaration, paths ...string) ([]plan.Piece, piece.Declaration) {
	there, names := gofile.ImportsOf(src), map[string]string{}
	for _, p := range paths {
		usual := cmp.Or(importNames[p], path.Base(p))
		names[usual] = there.Name(p, usual)
	}
	user.Code = gofile.Requalified(user.Code, names)
	var imports []plan.Piece
	for _, p := range paths {
		name := names[cmp.Or(importNames[p], path.Base(p))]
		if name == path.Base(p) {
			name = ""
		}
		imports = append(imports, piece.ImportFor{Import: piece.Import{Name: name, Path: p, Module: w.project.Repo}, User: user})
	}
	return imports, user
}

// planMain adds to the manager's code the set-up of the webhooks, unless ENABLE_WEBHOOKS is "false", and the
// registration of foreign types.
func (w *planner) planMain() error {
	if others, err := w.setUpByOthers(); others || err != nil {
		return err
	}
	code := manager.Code{Scheme: w.schemePieces, SetUp: w.mainPieces, Skip: w.options.SkipWiring}
	return code.Wire(w.Plan, w.project, manager.FindForWebhooks)
}

// planReadiness makes the manager ready once its webhooks answer. The code of another tool's manager has no place for
// that.
func (w *planner) planReadiness() error {
	if others, err := w.setUpByOthers(); others || err != nil {
		return err
	}
	if ours, err := w.Exists(manager.FlagsFile); err != nil || !ours || w.options.SkipWiring {
		return err
	}
	return manager.Code{SetUp: w.readinessPieces}.Wire(w.Plan, w.project, manager.FindForWebhooks)
}

// schemePieces registers foreign types with the manager's scheme.
func (w *planner) schemePieces(src []byte) []plan.Piece {
	if !kind.Foreign(w.resource) {
		return nil
	}
	return kind.SchemePieces(w.project, w.resource, gofile.ImportsOf(src), "utilruntime.Must(%s.AddToScheme(scheme))\n")
}

func (w *planner) mainPieces(src []byte) []plan.Piece {
	imports := gofile.ImportsOf(src)
	alias, pkg, key := w.setupCall(imports)
	failed := strings.ReplaceAll(manager.Failure(w.Plan, src, imports, "set up the "+w.resource.Kind+" webhooks"), "\t", "\t\t")
	return slices.Insert(whenEnabled(key+wiring.Manager(src)+")", failed, key), 1, plan.Piece(piece.UsedImportAt(w.project.Repo, alias, pkg)))
}

// readinessPieces adds the readiness check that all webhooks share.
func (w *planner) readinessPieces(src []byte) []plan.Piece {
	mgr := wiring.Manager(src)
	key := mgr + ".GetWebhookServer().StartedChecker("
	failed := strings.ReplaceAll(manager.Failure(w.Plan, src, gofile.ImportsOf(src), "add the readiness check of the webhooks"), "\t", "\t\t")
	return whenEnabled(mgr+`.AddReadyzCheck("webhook", `+key+"))", failed, key)
}

// whenEnabled returns a call that is skipped if ENABLE_WEBHOOKS is "false", and the import that the condition needs.
func whenEnabled(call, failed, key string) []plan.Piece {
	use := strings.TrimSuffix(key, "(") // a list of functions to call may have it as a value
	code := piece.Fragment{Marker: "builder", Key: use, Code: fmt.Sprintf("if os.Getenv(\"ENABLE_WEBHOOKS\") != \"false\" {\n\tif err := %s; err != nil {\n%s\t}\n}\n", call, failed)}
	return []plan.Piece{piece.ImportFor{Import: piece.Import{Path: "os"}, User: code}, code}
}

// webhookAlias ends the name under which main.go imports the webhooks' package.
func (w *planner) webhookAlias() string {
	if w.project.MultiGroup && w.resource.Group != "" {
		return w.resource.ImportAlias()
	}
	return w.resource.Version
}

func (w *planner) planModules() error { return gomod.UseTypes(w.Plan, w.resource) }

// record adds the webhooks to the project's entry, which plan writes to PROJECT.
func (w *planner) record() {
	r := w.recorded
	if r == nil {
		w.project.Resources = append(w.project.Resources, w.resource)
		r = &w.project.Resources[len(w.project.Resources)-1]
	}
	if r.Webhooks == nil {
		r.Webhooks = &project.Webhooks{}
	}
	hooks, o := r.Webhooks, w.options
	hooks.WebhookVersion = "v1"
	hooks.Defaulting = hooks.Defaulting || o.Defaulting
	hooks.Validation = hooks.Validation || o.Validation
	hooks.Conversion = hooks.Conversion || o.Conversion
	hooks.DefaultingPath = cmp.Or(hooks.DefaultingPath, o.DefaultingPath)
	hooks.ValidationPath = cmp.Or(hooks.ValidationPath, o.ValidationPath)
	for _, spoke := range w.spokes {
		if !slices.Contains(hooks.Spoke, spoke.Version) {
			hooks.Spoke = append(hooks.Spoke, spoke.Version)
		}
	}
}

// planFeatures plans what deploys the webhooks. A project that generates their configurations into a folder of its own
// deploys them itself.
func (w *planner) planFeatures() error {
	if w.ownConfigFolder() && w.options.Certificates == "" {
		w.Leave(path.Dir(w.generation.WebhookFile()) + ": the Makefile has the configurations of webhooks in this folder, so what deploys the new ones is left to you: see that the manager serves them, and that patches fit; for a conversion, the definition needs spec.conversion")
		return nil
	}
	return feature.Serve(w.Plan, w.project, w.header, w.options.Certificates)
}

// path is where the manager serves a webhook: custom or, if that is "", what controller-runtime derives.
func (w *planner) path(mutating bool, custom string) string {
	return cmp.Or(custom, codebase.WebhookPath(w.resource, mutating))
}

func (w *planner) data(file string) map[string]any {
	r, alias := w.resource, w.typesAlias(file)
	group := r.QualifiedGroup()
	return map[string]any{
		"StartsControlPlane": w.TestsStart(w.project.WebhookDir(r)),
		"Resource":           r,
		"Boilerplate":        w.header,
		"CRDPath":            cmp.Or(w.generation.CRDFolder(), codebase.CRDFolder),
		"WebhooksPath":       w.generation.WebhookFile(),
		"HasWebhooks":        w.hasConfigurations(),
		"FirstWebhook":       w.firstWebhook(),
		"BesideTypes":        w.besideTypes(),
		"Type":               w.typeName(alias),
		"Typed":              w.versions.TypedWebhooks(),
		"HasSlices":          w.versions.Slices(),
		"TestContext":        w.versions.TestContext(),
		"MetricsServer":      w.versions.MetricsServer(),
		"Randfill":           w.versions.Randfill(),
		"Diff":               w.versions.Diff(),
		"RangesOverNumbers":  w.versions.Go("v1.22.0"),
		"ImportPath":         w.project.ImportPath(r),
		"TypesAlias":         alias,
		"Variable":           kind.Variable(r),
		"QualifiedGroup":     group,
		"MarkerGroup":        cmp.Or(group, `""`),
		"DefaultingPath":     w.path(true, w.options.DefaultingPath),
		"ValidationPath":     w.path(false, w.options.ValidationPath),
		"PathToRoot":         kind.PathToRoot(w.project.WebhookDir(r)),
		"Sample":             w.sample(),
		"Namespaced":         r.API != nil && r.API.Namespaced,
		"CoreObject":         kind.CoreObjectOf(w.resource),
		"Direct":             w.direct(),
		"Foreign":            kind.Foreign(w.resource),
		"Defaulter":          w.webhookType("Defaulter"),
		"Validator":          w.webhookType("Validator"),
		"LogName":            w.logName(),
		"Log":                w.log(),
	}
}

// firstWebhook reports whether these webhooks are the first in their package. The first ones' file has the package's
// doc comment.
func (w *planner) firstWebhook() bool {
	return !w.besideTypes() && !slices.ContainsFunc(w.project.Resources, func(r project.Resource) bool {
		return r.Webhooks != nil && r.Kind != w.resource.Kind && w.project.WebhookDir(r) == w.project.WebhookDir(w.resource)
	})
}

package scaffold

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/project"
)

// plan plans every file. PROJECT comes last: what it records is there.
func (w *webhookPlan) plan() error {
	w.record()
	for _, step := range append(w.steps(), w.planProject) {
		if err := step(); err != nil {
			return err
		}
	}
	if len(w.refused) == 0 && w.Empty() {
		w.nothingToDo(fmt.Sprintf("these webhooks of %s %s, in %s", w.resource.APIVersion(), w.resource.Kind, w.project.WebhookFile(w.resource)))
		return nil
	}
	return w.finish()
}

// steps plan what the webhooks consist of, but for their entry in PROJECT. They run a
// second time, with a plan that records, when the webhooks are deleted.
func (w *webhookPlan) steps() []func() error {
	steps := []func() error{w.planCode, w.planTests, w.planMain, w.planModules}
	if w.webhook.Conversion {
		steps = append(steps, w.planConversion)
	}
	return append(steps, w.planFeatures)
}

// planCode plans the file of the webhooks: what sets them up, and each of them.
func (w *webhookPlan) planCode() error {
	file, data := w.project.WebhookFile(w.resource), w.data()
	if err := w.requireGo("webhook/webhook.go", file, data); err != nil {
		return err
	}
	if w.webhook.Defaulting {
		if err := w.putWebhook(file, "Default", w.webhook.DefaultingPath, "context", "sigs.k8s.io/controller-runtime/pkg/log"); err != nil {
			return err
		}
	}
	if w.webhook.Validation {
		return w.putWebhook(file, "Validat", w.webhook.ValidationPath, "context",
			"k8s.io/apimachinery/pkg/api/errors", "k8s.io/apimachinery/pkg/runtime/schema", "k8s.io/apimachinery/pkg/util/validation/field",
			"sigs.k8s.io/controller-runtime/pkg/webhook/admission")
	}
	return nil
}

// putWebhook adds a defaulter or a validator, by the stem of its name, to the file and to the
// chain of calls that sets the webhooks up.
func (w *webhookPlan) putWebhook(file, stem, customPath string, imports ...string) error {
	kind := w.resource.Kind
	name := kind + "Custom" + stem + map[string]string{"Default": "er", "Validat": "or"}[stem]
	code, err := render("webhook/"+map[string]string{"Default": "defaulter.go", "Validat": "validator.go"}[stem], w.data())
	if err != nil {
		return err
	}
	of := w.goImports(imports...)
	setup := builderCall{function: "Setup" + kind + "WebhookWithManager"}
	suffix := strings.TrimPrefix(name, kind+"Custom")
	of = append(of, builderCall{setup.function, "With" + suffix, "&" + name + "{}"})
	if customPath != "" {
		of = append(of, builderCall{setup.function, "With" + suffix + "CustomPath", fmt.Sprintf("%q", customPath)})
	}
	return w.put(file, these(append(of, declaration{name, string(code)})...))
}

// goImports are imports under the names that the templates use.
func (w *webhookPlan) goImports(paths ...string) []piece {
	names := map[string]string{
		"k8s.io/apimachinery/pkg/api/errors":   "apierrors",
		"k8s.io/apimachinery/pkg/util/runtime": "utilruntime",
	}
	var imports []piece
	for _, p := range paths {
		imports = append(imports, goImport{names[p], p, w.project.Repo})
	}
	return imports
}

// planMain lets the manager serve the webhooks, unless ENABLE_WEBHOOKS is false.
func (w *webhookPlan) planMain() error {
	file, err := w.mainFile()
	if err != nil {
		return err
	}
	return w.put(file, w.mainPieces)
}

func (w *webhookPlan) mainPieces(src []byte) []piece {
	imports := parseImports(src)
	of := w.goImports("os")
	if w.foreign() && w.registers() {
		of = append(of, w.schemePieces(imports, "utilruntime.Must(%s.AddToScheme(scheme))\n")...)
	}
	pkg := path.Join(w.project.Repo, w.project.WebhookDir(w.resource))
	alias := imports.name(pkg, "webhook"+w.webhookAlias())
	key := fmt.Sprintf("%s.Setup%sWebhookWithManager(", alias, w.resource.Kind)
	failed := strings.ReplaceAll(w.failure(src, imports, "set up the "+w.resource.Kind+" webhooks"), "\t", "\t\t")
	code := fmt.Sprintf("if os.Getenv(\"ENABLE_WEBHOOKS\") != \"false\" {\n\tif err := %smgr); err != nil {\n%s\t}\n}\n", key, failed)
	return append(of, w.importFragment(alias, pkg), fragment{marker: "builder", code: code, key: key, near: nearBuilder})
}

// webhookAlias ends the name under which main.go imports the webhooks' package.
func (w *webhookPlan) webhookAlias() string {
	if w.project.MultiGroup && w.resource.Group != "" {
		return w.resource.ImportAlias()
	}
	return w.resource.Version
}

// planModules notes in go.mod that the code imports types of another module, and refuses one that is
// not required.
func (w *webhookPlan) planModules() error {
	name := ""
	switch {
	case w.resource.Core && w.resource.Group == "apiextensions":
		name = "k8s.io/apiextensions-apiserver"
	case w.resource.Core:
		name = "k8s.io/api"
	case w.resource.External && w.needs == nil:
		var err error
		if name, err = w.moduleOf(w.resource.Path); err != nil {
			return err
		}
	default:
		return nil
	}
	return w.put("go.mod", these(directUse{name}))
}

// record notes the webhooks in the project; planProject writes that down.
func (w *webhookPlan) record() {
	r := w.recorded
	if r == nil {
		w.project.Resources = append(w.project.Resources, w.resource)
		r = &w.project.Resources[len(w.project.Resources)-1]
	}
	if r.Webhooks == nil {
		r.Webhooks = &project.Webhooks{}
	}
	hooks, o := r.Webhooks, w.webhook
	hooks.WebhookVersion = "v1"
	hooks.Defaulting = hooks.Defaulting || o.Defaulting
	hooks.Validation = hooks.Validation || o.Validation
	hooks.Conversion = hooks.Conversion || o.Conversion
	hooks.DefaultingPath = orElse(hooks.DefaultingPath, o.DefaultingPath)
	hooks.ValidationPath = orElse(hooks.ValidationPath, o.ValidationPath)
	for _, spoke := range w.spokes {
		if !slices.Contains(hooks.Spoke, spoke.Version) {
			hooks.Spoke = append(hooks.Spoke, spoke.Version)
		}
	}
}

// planFeatures plans what deploys the webhooks and a certificate for them. A feature that was switched
// off since its files were written stays off.
func (w *webhookPlan) planFeatures() error {
	p := &featurePlan{Plan: w.Plan, project: w.project, header: w.header}
	if err := p.complete(WebhookServer); err != nil {
		return err
	}
	if w.webhook.Certificates != "" {
		return p.enable(w.webhook.Certificates)
	}
	self, err := p.exists(SelfCert.component())
	if err != nil {
		return err
	}
	if self {
		if err := p.complete(SelfCert); err != nil {
			return err
		}
	}
	if issued, err := p.exists(CertManager.component()); err != nil || self && !issued {
		return err
	}
	return p.complete(CertManager)
}

func (w *webhookPlan) planProject() error {
	data, err := w.project.Marshal()
	if err != nil {
		return err
	}
	return w.write(project.FileName, data)
}

// data is what the templates of webhooks are filled from.
func (w *webhookPlan) data() map[string]any {
	r := w.resource
	up := `"..", "..", ".."`
	if w.project.MultiGroup && r.Group != "" {
		up += `, ".."`
	}
	group := r.QualifiedGroup()
	pathEnd := strings.ReplaceAll(group, ".", "-") + "-" + r.Version + "-" + r.SingularName()
	return map[string]any{
		"Resource":       r,
		"Boilerplate":    w.header,
		"FirstWebhook":   w.firstWebhook(),
		"ImportPath":     w.project.ImportPath(r),
		"TypesAlias":     r.ImportAlias(),
		"Variable":       variable(r),
		"QualifiedGroup": group,
		"MarkerGroup":    orElse(group, `""`),
		"DefaultingPath": orElse(w.webhook.DefaultingPath, "/mutate-"+pathEnd),
		"ValidationPath": orElse(w.webhook.ValidationPath, "/validate-"+pathEnd),
		"PathToRoot":     up,
		"Sample":         w.sample(),
		"Namespaced":     r.API != nil && r.API.Namespaced,
		"CoreObject":     w.coreObject(),
		"Direct":         w.direct(),
		"Foreign":        w.foreign(),
	}
}

// firstWebhook reports whether no webhooks came before these in their package, whose doc
// they then carry.
func (w *webhookPlan) firstWebhook() bool {
	return !slices.ContainsFunc(w.project.Resources, func(r project.Resource) bool {
		return r.Webhooks != nil && r.Kind != w.resource.Kind && w.project.WebhookDir(r) == w.project.WebhookDir(w.resource)
	})
}

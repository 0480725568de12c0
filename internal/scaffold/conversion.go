package scaffold

import (
	"go/format"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/project"
)

// planConversion plans the methods that convert the kind's versions, tests that
// nothing is lost on the way, and that the API server asks for it.
func (w *webhookPlan) planConversion() error {
	if err := w.requireFrom("webhook/hub.go", conversionFile(w.project, w.resource), w.data()); err != nil {
		return err
	}
	hub, err := readTypes(w.root, w.project.APIDir(w.resource), w.resource.ImportAlias()+".")
	if err != nil {
		return err
	}
	for _, spoke := range w.spokes {
		if err := w.planSpoke(hub, spoke); err != nil {
			return err
		}
	}
	return nil
}

// conversionFile is the file of a version's conversion, beside its types.
func conversionFile(p *project.Project, r project.Resource) string {
	return path.Join(p.APIDir(r), r.SingularName()+"_conversion.go")
}

func (w *webhookPlan) planSpoke(hub *goTypes, spoke project.Resource) error {
	types, err := readTypes(w.root, w.project.APIDir(spoke), "")
	if err != nil {
		return err
	}
	data := w.data()
	data["Resource"], data["HubAlias"], data["HubPath"], data["HubVersion"] = spoke, w.resource.ImportAlias(), w.project.ImportPath(w.resource), w.resource.Version
	data["To"], data["From"] = copyFields(spoke.Kind, hub, types), copyFields(spoke.Kind, types, hub)
	file := conversionFile(w.project, spoke)
	if err := w.requireGo("webhook/spoke.go", file, data); err != nil {
		return err
	}
	if err := w.requireGo("webhook/conversion_test.go", strings.TrimSuffix(file, ".go")+"_test.go", data); err != nil {
		return err
	}
	return w.planConversionTest(spoke)
}

// planConversionTest plans a test that has the API server convert an object.
func (w *webhookPlan) planConversionTest(spoke project.Resource) error {
	suite, err := w.find(w.project.WebhookSuiteTestFile(w.resource))
	if err != nil {
		return err
	}
	if suite.exists && usesGinkgo(suite.before) {
		return nil
	}
	data := w.data()
	title := strings.ToUpper(spoke.Version[:1]) + spoke.Version[1:]
	data["Spoke"], data["SpokeTitle"] = spoke.Version, title
	code, err := render("webhook/conversion_webhook_test.go", data)
	if err != nil {
		return err
	}
	of := w.goImports("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured", "k8s.io/apimachinery/pkg/runtime/schema", "sigs.k8s.io/controller-runtime/pkg/client")
	return w.put(w.project.WebhookTestFile(w.resource), these(append(of, declaration{"Test" + w.resource.Kind + "ConversionTo" + title, string(code)})...))
}

// requireGo plans a Go file from a template that cannot keep Go's format by itself.
func (w *webhookPlan) requireGo(name, file string, data any) error {
	content, err := render(name, data)
	if err != nil {
		return err
	}
	formatted, err := format.Source(content)
	if err != nil {
		return err
	}
	return w.require(file, formatted)
}

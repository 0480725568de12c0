package newwebhook

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
	"github.com/slipway-dev/slipway/project"
)

// planConversion plans the methods that convert the kind's versions, and their tests: nothing is lost, and the API
// server converts.
func (w *planner) planConversion() error {
	file := conversionFile(w.project, w.resource)
	if err := w.RequireFrom("webhook/hub.go", file, w.data(file)); err != nil {
		return err
	}
	hub, err := fieldcopy.Read(w.Code(), w.project.APIDir(w.resource), w.resource.ImportAlias()+".")
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

// checkConversion refuses a conversion if files of other names have its methods: a second method does not compile.
func (w *planner) checkConversion() error {
	if !w.options.Conversion {
		return nil
	}
	for _, r := range slices.Concat(w.spokes, []project.Resource{w.resource}) {
		own := conversionFile(w.project, r)
		place, err := convertedAt(w.Plan, w.project, r, func(name string) bool { return name == own })
		if err != nil {
			return err
		}
		if place != "" {
			return &report.Error{
				Class: report.Conflict,
				What:  fmt.Sprintf("the project's code converts versions of %s already", r.Kind), Where: place,
				Hint: "nothing was changed; move the conversion to " + own + ", then this command keeps it and adds what is missing",
			}
		}
	}
	return nil
}

// convertedAt returns the place, "file:line", of the first method that converts a version, in the planned code; "" if
// there is none.
func convertedAt(p *plan.Plan, file *project.Project, r project.Resource, skip func(name string) bool) (string, error) {
	method := regexp.MustCompile(`(?m)^func \((\w+ )?\*?` + r.Kind + `\) (Hub|ConvertTo|ConvertFrom)\(`)
	for _, name := range p.Code().GoFilesIn(file.APIDir(r)) {
		if skip(name) {
			continue
		}
		c, err := p.Find(name)
		if err != nil {
			return "", err
		}
		if at := method.FindIndex(c.After()); at != nil {
			return report.Position{File: name, Line: 1 + bytes.Count(c.After()[:at[0]], []byte("\n"))}.String(), nil
		}
	}
	return "", nil
}

func (w *planner) planSpoke(hub *fieldcopy.Types, spoke project.Resource) error {
	types, err := fieldcopy.Read(w.Code(), w.project.APIDir(spoke), "")
	if err != nil {
		return err
	}
	file := conversionFile(w.project, spoke)
	data := w.data(file)
	data["Resource"], data["HubAlias"], data["HubPath"], data["HubVersion"] = spoke, w.resource.ImportAlias(), w.project.ImportPath(w.resource), w.resource.Version
	data["To"], data["From"] = fieldcopy.Statements(spoke.Kind, hub, types, w.options.Renamed...), fieldcopy.Statements(spoke.Kind, types, hub, w.options.Renamed...)
	if err := w.RequireFrom("webhook/spoke.go", file, data); err != nil {
		return err
	}
	if err := w.RequireFrom("webhook/conversion_test.go", strings.TrimSuffix(file, ".go")+"_test.go", data); err != nil {
		return err
	}
	return w.planConversionTest(spoke)
}

// planConversionTest plans a test in which the API server converts an object.
func (w *planner) planConversionTest(spoke project.Resource) error {
	own, err := w.ownSuite()
	if err != nil {
		return err
	}
	if own.File != "" || w.besideTypes() || w.direct() || !w.fitTests() { // a test there cannot import the spoke, which imports its package
		return nil
	}
	file := w.testFile()
	data := w.data(file)
	title := strings.ToUpper(spoke.Version[:1]) + spoke.Version[1:]
	data["Spoke"], data["SpokeTitle"] = spoke.Version, title
	code, err := templates.Render("webhook/conversion_webhook_test.go", data)
	if err != nil {
		return err
	}
	of := w.testImports("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured", "k8s.io/apimachinery/pkg/runtime/schema", "sigs.k8s.io/controller-runtime/pkg/client")
	return w.Insert(file, plan.These(append(of, piece.Declaration{Name: "Test" + w.resource.Kind + "ConversionTo" + title, Code: string(code)})...))
}

package newwebhook

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// webhookType is the type of a defaulter or a validator. Kubebuilder's commands look for this name before they add one.
// A file in which earlier versions have put Custom into it goes on with that.
func (w *planner) webhookType(suffix string) string {
	if older := w.resource.Kind + "Custom" + suffix; w.declares(older) {
		return older
	}
	return w.resource.Kind + suffix
}

// declares reports whether the file of the webhooks declares a name.
func (w *planner) declares(name string) bool {
	c, err := w.Find(w.project.WebhookFile(w.resource))
	return err == nil && c.There() && gofile.Declares(c.After(), name) != ""
}

// logName is the variable for the logger of the kind's webhooks, which code of kubebuilder's commands uses.
func (w *planner) logName() string { return strings.ToLower(w.resource.Kind) + "log" }

// log is the logger in the file of the webhooks. Beside types, older versions of kubebuilder have written a variable
// log, so the package of that name is not imported there.
func (w *planner) log() string {
	switch {
	case w.declares(w.logName()):
		return w.logName()
	case w.besideTypes():
		return `ctrl.Log.WithName("` + w.resource.SingularName() + `-webhook")`
	}
	return `log.Log.WithName("` + w.resource.SingularName() + `-webhook")`
}

// logs adds the package that the logger comes from to imports.
func (w *planner) logs(imports ...string) []string {
	pkg, _, qualified := strings.Cut(w.log(), ".")
	switch {
	case !qualified:
		return imports
	case pkg == "ctrl":
		return append(imports, "sigs.k8s.io/controller-runtime")
	}
	return append(imports, "sigs.k8s.io/controller-runtime/pkg/log")
}

// TestFile is the file with the tests of a kind's webhooks that are functions of Go's. Kubebuilder's commands insert
// specs of Ginkgo's into the file that [project.Project.WebhookTestFile] names, where earlier versions have put the
// functions. There reports whether a file is there.
func TestFile(p *project.Project, r project.Resource, there func(name string) bool) string {
	specs := p.WebhookTestFile(r)
	functions := path.Join(path.Dir(specs), r.SingularName()+"_admission_test.go")
	if there(specs) && !there(functions) {
		return specs
	}
	return functions
}

// testFile is the file with the tests that are functions of Go's.
func (w *planner) testFile() string {
	return TestFile(w.project, w.resource, func(name string) bool {
		c, err := w.Find(name)
		return err == nil && c.OnDisk()
	})
}

// Served is the place, "file:line", of the first marker of a kind's webhooks in the code as the plan leaves it, or of a
// conversion that slipway did not make; "" without one.
func Served(p *plan.Plan, file *project.Project, r project.Resource) (place string, err error) {
	if place, err = Marked(p, p.After(), file, r); place != "" || err != nil || !r.Webhooks.Conversion {
		return place, err
	}
	for _, o := range file.Resources {
		if o.API == nil || o.Group != r.Group || o.Kind != r.Kind {
			continue
		}
		if place, err = convertedAt(p, file, o, made(p)); place != "" || err != nil {
			return place, err
		}
	}
	return "", nil
}

// made reports of a file whether slipway made it.
func made(p *plan.Plan) func(name string) bool {
	return func(name string) bool {
		_, is := p.Base().File(name)
		return is
	}
}

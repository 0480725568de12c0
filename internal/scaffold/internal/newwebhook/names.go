package newwebhook

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// webhookType is the type of a defaulter or validator. Kubebuilder's commands look for this name before they add one. A
// file that has the older name, with Custom in it, keeps that.
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

// logName is the variable that kubebuilder declares for the logger of the kind's webhooks.
func (w *planner) logName() string { return strings.ToLower(w.resource.Kind) + "log" }

// log is the logger in the file of the webhooks. In packages of types, older versions of kubebuilder declare a variable
// log, so that the package log cannot be imported there.
func (w *planner) log() string {
	switch {
	case w.declares(w.logName()):
		return w.logName()
	case w.besideTypes():
		return `ctrl.Log.WithName("` + w.resource.SingularName() + `-webhook")`
	}
	return `log.Log.WithName("` + w.resource.SingularName() + `-webhook")`
}

// logs adds the package of the logger to imports.
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

// TestFile is the file of a kind's webhook tests that are Go functions. Kubebuilder inserts Ginkgo specs into
// [project.Project.WebhookTestFile], where older versions of slipway put functions.
func TestFile(p *project.Project, r project.Resource, there func(name string) bool) string {
	specs := p.WebhookTestFile(r)
	functions := path.Join(path.Dir(specs), r.SingularName()+"_admission_test.go")
	if there(specs) && !there(functions) {
		return specs
	}
	return functions
}

func (w *planner) testFile() string {
	return TestFile(w.project, w.resource, func(name string) bool {
		c, err := w.Find(name)
		return err == nil && c.OnDisk()
	})
}

// Served returns the place, "file:line", of the first marker of a kind's webhooks in the planned code. Without any, it
// is that of a conversion that slipway did not make, or "".
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

func made(p *plan.Plan) func(name string) bool {
	return func(name string) bool {
		_, is := p.Base().File(name)
		return is
	}
}

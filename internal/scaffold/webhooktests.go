package scaffold

import (
	"fmt"
	"path"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// planTests plans tests of the webhooks that are asked for, and the suite that they run in.
func (w *webhookPlan) planTests() error {
	suite, err := w.find(w.project.WebhookSuiteTestFile(w.resource))
	if err != nil {
		return err
	}
	if suite.exists && usesGinkgo(suite.before) {
		if w.needs == nil {
			suite.action, suite.why = report.Kept, "its tests are written with Ginkgo; add those of "+w.resource.Kind+" in their style"
			w.track(suite)
		}
		return w.put(suite.path, w.suitePieces)
	}
	if !w.direct() {
		if err := w.planSuite(); err != nil {
			return err
		}
	}
	file := w.project.WebhookTestFile(w.resource)
	if err := w.requireGo("webhook/webhook_test.go", file, w.data()); err != nil {
		return err
	}
	var tests []piece
	if w.webhook.Defaulting {
		if tests, err = w.addTest(tests, "Defaulting", "defaulter_test.go"); err != nil {
			return err
		}
	}
	if w.webhook.Validation {
		if tests, err = w.addTest(tests, "Validation", "validator_test.go"); err != nil {
			return err
		}
	}
	return w.put(file, these(tests...))
}

func (w *webhookPlan) addTest(tests []piece, what, template string) ([]piece, error) {
	code, err := render("webhook/"+template, w.data())
	return append(tests, declaration{"Test" + w.resource.Kind + what, string(code)}), err
}

func (w *webhookPlan) planSuite() error {
	file := w.project.WebhookSuiteTestFile(w.resource)
	if err := w.requireFrom("webhook/suite_test.go", file, w.data()); err != nil {
		return err
	}
	return w.put(file, w.suitePieces)
}

// suitePieces make the types known to the suite, all versions of the kind, and set the
// webhooks up in its manager.
func (w *webhookPlan) suitePieces(src []byte) []piece {
	scheme, setup := "utilruntime.Must(%s.AddToScheme(scheme.Scheme))\n", "if err := %s(mgr); err != nil {\n\treturn 0, fmt.Errorf(\"set up the %s webhooks: %%w\", err)\n}\n"
	of := w.goImports("k8s.io/apimachinery/pkg/util/runtime")
	if usesGinkgo(src) {
		scheme, setup, of = "Expect(%s.AddToScheme(scheme.Scheme)).To(Succeed())\n", "Expect(%s(mgr)).To(Succeed()) // the %s webhooks\n", nil
	}
	imports, versions := parseImports(src), append([]project.Resource{w.resource}, w.otherVersions()...)
	if !w.registers() {
		versions, of = nil, nil
	}
	for _, r := range versions {
		of = append(of, w.fragmentsOf(r).schemePieces(imports, scheme)...)
	}
	name := "Setup" + w.resource.Kind + "WebhookWithManager"
	return append(of, fragment{marker: "webhook", code: fmt.Sprintf(setup, name, w.resource.Kind), key: name + "(", near: nearBuilder})
}

// fragmentsOf is the planning of another version, to have its fragments from.
func (w *webhookPlan) fragmentsOf(r project.Resource) *apiPlan {
	return &apiPlan{project: w.project, resource: r}
}

// sample is the file of the kind's sample, which the tests create, or nothing.
func (w *webhookPlan) sample() string {
	if w.resource.API == nil {
		return ""
	}
	return path.Base(w.project.SampleFile(w.resource))
}

// direct reports whether the tests call the webhooks themselves, because no API server knows
// the kind or takes an object that holds next to nothing.
func (w *webhookPlan) direct() bool { return w.resource.API == nil && w.coreObject() == nil }

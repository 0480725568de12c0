package newwebhook

import (
	"fmt"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
	"github.com/slipway-dev/slipway/project"
)

// planTests plans tests of the webhooks that are asked for, and the suite that they run in.
func (w *planner) planTests() error {
	own, err := w.ownSuite()
	if err != nil {
		return err
	}
	if own.File != "" {
		return w.leaveTests(own)
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
	var tests []plan.Piece
	if !strings.HasPrefix(w.versions.TestContext(), "t.") {
		tests = w.goImports("context")
	}
	if w.options.Defaulting {
		if tests, err = w.addTest(tests, "Defaulting", "defaulter_test.go"); err != nil {
			return err
		}
	}
	if w.options.Validation {
		// Imports come first, so that undoing finds them unused.
		tests = append(tests, w.goImports("strings", "k8s.io/apimachinery/pkg/util/validation/field")...)
		if tests, err = w.addTest(tests, "Validation", "validator_test.go"); err != nil {
			return err
		}
	}
	return w.Put(file, plan.These(tests...))
}

// ownSuite is the suite that the project's authors wrote in their own way, in which the tests would run.
func (w *planner) ownSuite() (plan.Suite, error) {
	file := w.project.WebhookSuiteTestFile(w.resource)
	suite, err := w.Find(file)
	if err != nil {
		return plan.Suite{}, err
	}
	if ginkgo := suite.OnDisk() && gofile.UsesGinkgo(suite.Before()); w.direct() && !ginkgo {
		return plan.Suite{}, nil
	}
	return w.OwnSuite(file, "TestMain", "runSuite", "k8sClient")
}

// leaveTests plans no tests. A suite that has the places for it sets the webhooks up.
func (w *planner) leaveTests(own plan.Suite) error {
	if own.File == w.project.WebhookSuiteTestFile(w.resource) {
		if err := w.PutIfPlaced(own.File, w.suitePieces, piece.ByHand(w.suitePieces(nil))); err != nil {
			return err
		}
	}
	if w.Recording() {
		return nil
	}
	return w.Keep(own.File, own.Why+"; add tests of "+w.resource.Kind+" in its style")
}

func (w *planner) addTest(tests []plan.Piece, what, template string) ([]plan.Piece, error) {
	code, err := templates.Render("webhook/"+template, w.data())
	return append(tests, piece.Declaration{Name: "Test" + w.resource.Kind + what, Code: string(code)}), err
}

func (w *planner) planSuite() error {
	file := w.project.WebhookSuiteTestFile(w.resource)
	if err := w.RequireFrom("webhook/suite_test.go", file, w.data()); err != nil {
		return err
	}
	return w.PutIfPlaced(file, w.suitePieces, piece.ByHand(w.suitePieces(nil)))
}

// SuitePieces are what the test suite of webhooks does for those of r.
func SuitePieces(p *project.Project, r project.Resource) plan.Pieces {
	w := &planner{project: p, resource: r}
	return w.suitePieces
}

// suitePieces make the types known to the suite, all versions of the kind, and set the
// webhooks up in its manager.
func (w *planner) suitePieces(src []byte) []plan.Piece {
	scheme, setup := "utilruntime.Must(%s.AddToScheme(scheme.Scheme))\n", "if err := %s(mgr); err != nil {\n\treturn 0, fmt.Errorf(\"set up the %s webhooks: %%w\", err)\n}\n"
	of := w.goImports("k8s.io/apimachinery/pkg/util/runtime")
	if gofile.UsesGinkgo(src) {
		scheme, setup, of = "Expect(%s.AddToScheme(scheme.Scheme)).To(Succeed())\n", "Expect(%s(mgr)).To(Succeed()) // the %s webhooks\n", nil
	}
	if w.besideTypes() {
		return append(of, w.besidePieces(fmt.Sprintf(scheme, ownPackage), setup)...)
	}
	imports, versions := gofile.ImportsOf(src), append([]project.Resource{w.resource}, w.otherVersions()...)
	if !kind.Registers(w.resource) {
		versions, of = nil, nil
	}
	for _, r := range versions {
		of = append(of, kind.SchemePieces(w.project, r, imports, scheme, "")...)
	}
	name := w.setupName()
	return append(of, piece.Fragment{Marker: "webhook", Code: fmt.Sprintf(setup, name, w.resource.Kind), Key: name + "("})
}

// sample is the file of the kind's sample, which the tests create, or nothing.
func (w *planner) sample() string {
	if w.resource.API == nil {
		return ""
	}
	return path.Base(w.project.SampleFile(w.resource))
}

// direct reports whether the tests call the webhooks themselves, because no API server knows
// the kind or takes an object that holds next to nothing.
func (w *planner) direct() bool { return w.resource.API == nil && kind.CoreObjectOf(w.resource) == nil }

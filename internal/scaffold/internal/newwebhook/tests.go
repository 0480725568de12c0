package newwebhook

import (
	"bytes"
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

// planTests plans tests of the requested webhooks, and their suite.
func (w *planner) planTests() error {
	own, err := w.ownSuite()
	if err != nil {
		return err
	}
	methods, err := w.areMethods()
	if err != nil {
		return err
	}
	switch made := w.made(); {
	case !made.Defaulting && !made.Validation && !made.Conversion:
		return w.keepTests()
	case own.File != "":
		return w.planOwnTests(own)
	case methods && w.direct():
		return w.keepTests()
	case !w.Recording() && !w.fitTests():
		return w.keepTests()
	}
	if !w.direct() && !w.testedOtherwise() {
		if err := w.planSuite(); err != nil {
			return err
		}
	}
	return w.putTests()
}

// putTests plans the tests as Go functions.
func (w *planner) putTests() error {
	file, made := w.testFile(), w.made()
	if w.direct() && !made.Defaulting && !made.Validation {
		return nil // a conversion's tests are beside the types
	}
	if err := w.RequireFrom("webhook/webhook_test.go", file, w.data(file)); err != nil {
		return err
	}
	if specs := w.project.WebhookTestFile(w.resource); w.Recording() && specs != file { // kubebuilder's specs go with the webhooks
		if err := w.Require(specs, nil); err != nil {
			return err
		}
	}
	var tests []plan.Piece
	var err error
	if !strings.HasPrefix(w.versions.TestContext(), "t.") {
		tests = w.goImports("context")
	}
	if made.Defaulting {
		if tests, err = w.addTest(tests, "Defaulting", "defaulter_test.go"); err != nil {
			return err
		}
	}
	if made.Validation {
		// Imports come first, so that undoing finds them unused.
		tests = append(tests, w.goImports("strings", fieldPackage)...)
		if tests, err = w.addTest(tests, "Validation", "validator_test.go"); err != nil {
			return err
		}
	}
	return w.Insert(file, plan.These(tests...))
}

const fieldPackage = "k8s.io/apimachinery/pkg/util/validation/field"

// ownSuite returns the authors' suite in which the tests would run. Tests that call the webhooks directly need none,
// unless it is Ginkgo's.
func (w *planner) ownSuite() (plan.Suite, error) {
	own, err := w.OwnSuite(w.project.WebhookSuiteTestFile(w.resource))
	if err != nil || w.direct() && !own.Ginkgo {
		return plan.Suite{}, err
	}
	return own, nil
}

// fitTests reports whether tests from templates compile in the package. They declare functions: an existing test file
// must be one of theirs, and no other file may declare the same names.
func (w *planner) fitTests() bool {
	file, maker := w.testFile(), "new"+w.resource.Kind
	test, err := w.Find(file)
	if err != nil || test.OnDisk() {
		return err == nil && gofile.Declares(test.Before(), maker) != ""
	}
	of := []string{maker, "Test" + w.resource.Kind + "Defaulting", "Test" + w.resource.Kind + "Validation", "Test" + w.resource.Kind + "ValidationOfUpdates"}
	other, _ := w.Declaring(w.project.WebhookDir(w.resource), of...)
	return other == ""
}

// keepTests leaves the tests to the authors, and reports it.
func (w *planner) keepTests() error {
	file := w.testFile()
	if there, err := w.Exists(file); err != nil || !there || w.Recording() {
		return err
	}
	return w.Keep(file, "its tests are its authors' own; add tests of "+w.resource.Kind+" in their style")
}

// testedOtherwise reports whether the webhooks have a test of their authors that does not use the suite's client. Then
// they do not keep the suite when other webhooks are deleted.
func (w *planner) testedOtherwise() bool {
	if !w.NamesOnly() {
		return false
	}
	test, err := w.Find(w.testFile())
	return err == nil && test.OnDisk() && !bytes.Contains(test.Before(), []byte(plan.SuiteClient))
}

func (w *planner) addTest(tests []plan.Piece, what, template string) ([]plan.Piece, error) {
	code, err := templates.Render("webhook/"+template, w.data(w.testFile()))
	return append(tests, piece.Declaration{Name: "Test" + w.resource.Kind + what, Code: string(code)}), err
}

func (w *planner) planSuite() error {
	file := w.project.WebhookSuiteTestFile(w.resource)
	if err := w.RequireFrom("webhook/suite_test.go", file, w.data(file)); err != nil {
		return err
	}
	return w.InsertIfPlaced(file, w.suitePieces, piece.ByHand(w.suitePieces(nil)))
}

// SuitePieces returns what the webhooks' suite does for the kind r.
func SuitePieces(p *project.Project, r project.Resource) plan.Pieces {
	w := &planner{project: p, resource: r}
	return w.suitePieces
}

// suitePieces registers all versions of the kind and sets up the webhooks in the suite's manager.
func (w *planner) suitePieces(src []byte) []plan.Piece {
	scheme, setup := "utilruntime.Must(%s.AddToScheme(scheme.Scheme))\n", "if err := %s(mgr); err != nil {\n\treturn nil, fmt.Errorf(\"set up the %s webhooks: %%w\", err)\n}\n"
	if gofile.Declares(src, "runSuite") != "" { // in suites of older versions of slipway
		setup = strings.Replace(setup, "return nil", "return 0", 1)
	}
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
		of = append(of, kind.SchemePieces(w.project, r, imports, scheme)...)
	}
	name := w.setupName()
	return append(of, piece.Fragment{Marker: "webhook", Code: fmt.Sprintf(setup, name, w.resource.Kind), Key: name})
}

// sample is the file of the kind's sample, which the tests create, or "" if it has another name. Existing tests that
// read the usual file continue to.
func (w *planner) sample() string {
	if w.resource.API == nil {
		return ""
	}
	place, err := w.Code().SamplePlace(w.project, w.resource)
	if err != nil {
		return ""
	}
	if there, err := w.Exists(place.File); err == nil && there {
		return place.File
	}
	if test, err := w.Find(w.testFile()); err == nil && bytes.Contains(test.Before(), []byte(path.Base(place.File))) {
		return place.File
	}
	return ""
}

// direct reports whether the tests call the webhooks directly. They do if no API server knows the kind or accepts a
// minimal object, or if the authors' suite may not start one.
func (w *planner) direct() bool {
	return w.inOwnSuite || w.sample() == "" && kind.CoreObjectOf(w.resource) == nil
}

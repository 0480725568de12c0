package newwebhook

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

// planOwnTests plans tests that call the webhooks directly, for a suite that the authors wrote: it may start no API
// server. A suite with the insertion points also sets the webhooks up.
func (w *planner) planOwnTests(own plan.Suite) error {
	if own.File == w.project.WebhookSuiteTestFile(w.resource) {
		if w.Recording() { // the suite is deleted with the last webhooks in it
			if err := w.RequireFrom("webhook/suite_test.go", own.File, w.data(own.File)); err != nil {
				return err
			}
		}
		if err := w.InsertIfPlaced(own.File, w.suitePieces, piece.ByHand(w.suitePieces(nil))); err != nil {
			return err
		}
	}
	w.inOwnSuite = true
	put, err := w.putOwnTests(own)
	if err != nil || w.Recording() {
		return err
	}
	if put {
		return w.Keep(own.File, own.Why)
	}
	return w.Keep(own.File, own.Why+"; add tests of "+w.resource.Kind+" in its style")
}

// putOwnTests plans specs for a Ginkgo suite, else functions, if they compile.
func (w *planner) putOwnTests(own plan.Suite) (put bool, err error) {
	if made := w.made(); !made.Defaulting && !made.Validation && !w.Recording() {
		return false, nil
	}
	if methods, err := w.areMethods(); err != nil || methods {
		return false, err
	}
	if !own.Ginkgo {
		if !w.fitTests() {
			return false, nil
		}
		return true, w.putTests()
	}
	suite, err := w.Find(own.File)
	if err != nil {
		return false, err
	}
	ginkgo, gomega := dotImports(suite.Before())
	if ginkgo == "" || gomega == "" || !w.fitSpecs() {
		return false, nil
	}
	return true, w.putSpecs(ginkgo, gomega)
}

// areMethods reports whether a requested webhook is a method of the kind: then there is no defaulter or validator for a
// test to call.
func (w *planner) areMethods() (bool, error) {
	file, made := w.project.WebhookFile(w.resource), w.made()
	defaults, err := w.isMethod(file, "Default")
	if err != nil {
		return false, err
	}
	validates, err := w.isMethod(file, "ValidateCreate")
	return made.Defaulting && defaults || made.Validation && validates, err
}

// dotImports returns the import paths of Ginkgo and Gomega if the suite dot-imports them, as specs from templates need.
func dotImports(suite []byte) (ginkgo, gomega string) {
	for pkg, name := range gofile.ImportsOf(suite) {
		switch {
		case name != ".":
		case strings.HasPrefix(pkg, "github.com/onsi/ginkgo"):
			ginkgo = pkg
		case pkg == "github.com/onsi/gomega":
			gomega = pkg
		}
	}
	return ginkgo, gomega
}

// fitSpecs reports whether specs fit the test file: it does not exist, or has such specs and therefore their imports.
// Undoing removes the specs in any case.
func (w *planner) fitSpecs() bool {
	if w.Recording() {
		return true
	}
	test, err := w.Find(w.project.WebhookTestFile(w.resource))
	if err != nil || !test.OnDisk() {
		return err == nil
	}
	return slices.ContainsFunc(w.specs(), func(s spec) bool { return piece.Spec{Title: s.title}.In(test.Before()) })
}

// A spec tests one webhook.
type spec struct {
	made            bool
	title, template string
	imports         []string
}

func (w *planner) specs() []spec {
	made := w.made()
	return []spec{
		{made.Defaulting, w.webhookType("Defaulter"), "webhook/defaulter_spec_test.go", nil},
		{made.Validation, w.webhookType("Validator"), "webhook/validator_spec_test.go", []string{fieldPackage}},
	}
}

func (w *planner) putSpecs(ginkgo, gomega string) error {
	file := w.project.WebhookTestFile(w.resource)
	data := w.data(file)
	data["Ginkgo"], data["Gomega"] = ginkgo, gomega
	if err := w.RequireFrom("webhook/webhook_spec_test.go", file, data); err != nil {
		return err
	}
	var of []plan.Piece
	for _, s := range w.specs() {
		if !s.made {
			continue
		}
		code, err := templates.Render(s.template, data)
		if err != nil {
			return err
		}
		// Imports come first, so that undoing finds them unused.
		of = append(append(of, w.goImports(s.imports...)...), piece.Spec{Title: s.title, Code: string(code)})
	}
	return w.Insert(file, plan.These(of...))
}

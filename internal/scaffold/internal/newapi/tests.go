package newapi

import (
	"bytes"
	"fmt"
	"path"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// planTests plans the controller's test and its suite, where the test compiles.
func (a *planner) planTests() error {
	own, err := a.ownSuite()
	if err != nil {
		return err
	}
	if own.File == "" {
		if misfit, err := a.testMisfit(); err != nil || misfit != "" {
			return a.leaveTest(misfit, err)
		}
		if err := a.createGo(a.controllerTest(), a.controllerTestFile()); err != nil {
			return err
		}
	}
	return a.planSuite(own)
}

// leaveTest says why a controller gets no test.
func (a *planner) leaveTest(misfit string, err error) error {
	if err == nil {
		a.Leave(fmt.Sprintf("%s: no test was written, and no suite for it: %s; add a test of %s in the project's own way", a.controllerTestFile(), misfit, a.reconciler()))
	}
	return err
}

// testMisfit is why the test from the template does not compile with the reconciler and the types that the project has
// already, or "". A plan that records needs asks for all that may have been written.
func (a *planner) testMisfit() (string, error) {
	if test, err := a.Exists(a.controllerTestFile()); err != nil || test || a.Recording() {
		return "", err
	}
	reconciler, err := a.Find(a.controllerFile())
	if err != nil {
		return "", err
	}
	if missing, err := a.missingIn(reconciler); missing != "" || err != nil {
		return fmt.Sprintf("%s in %s has no %s", a.reconciler(), reconciler.Path(), missing), err
	}
	types, err := a.Find(a.types)
	if err != nil || kind.Foreign(a.resource) {
		return "", err
	}
	if spec := a.resource.Kind + "Spec"; types.OnDisk() && gofile.Fields(types.Before(), a.resource.Kind)["Spec"] != spec {
		return fmt.Sprintf("%s in %s has no field Spec of the type %s", a.resource.Kind, types.Path(), spec), nil
	}
	return "", nil
}

// missingIn is what the test uses of the reconciler and the one in a file lacks, if one is there; or "".
func (a *planner) missingIn(file *plan.File) (string, error) {
	if !file.OnDisk() {
		return "", nil
	}
	fields := gofile.Fields(file.Before(), a.reconciler())
	for _, field := range []string{"Client", "Scheme"} { // whose types have these names, too
		if fields[field] != field {
			return "field " + field, nil
		}
	}
	c, err := controllerIn(a.Plan, path.Dir(file.Path()), a.reconciler())
	if err != nil || c.Reconciles {
		return "", err
	}
	return "method Reconcile with a context and a request", nil
}

// testedOtherwise reports whether a controller that stays has a test of its authors that needs no suite: none is made,
// and that of a controller which goes is not kept for it.
func (a *planner) testedOtherwise() bool {
	if a.Recording() && !a.NamesOnly() {
		return false
	}
	test, err := a.Find(a.controllerTestFile())
	return err == nil && test.OnDisk() && !bytes.Contains(test.Before(), []byte(plan.SuiteClient))
}

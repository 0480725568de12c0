package newapi

import (
	"bytes"
	"fmt"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// planTests plans the controller's test and its suite, unless the test would not compile.
func (a *planner) planTests() error {
	own, err := a.ownSuite()
	if err != nil {
		return err
	}
	if own.File == "" {
		if a.options.Untested != "" {
			a.Leave(fmt.Sprintf("%s: no test was written, and no suite for it, since it would not compile: %s; add a test of %s in the project's own way",
				a.controllerTestFile(), a.options.Untested, a.reconciler()))
			return nil
		}
		if err := a.CreateFrom(a.controllerTest(), a.controllerTestFile(), a.data()); err != nil {
			return err
		}
	}
	return a.planSuite(own)
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

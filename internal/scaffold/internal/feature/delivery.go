package feature

import (
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

const endToEnd = "test/e2e"

// e2eTarget is the Makefile's target that runs the tests of [endToEnd].
var e2eTarget = piece.MakefileTarget{Name: "test-e2e", Text: `.PHONY: test-e2e
test-e2e: generate ## Test what runs in a cluster of its own; CLUSTER=kind: one of kind; KEEP=1: it stays.
	SLIPWAY='$(SLIPWAY)' CLUSTER='$(CLUSTER)' KEEP='$(KEEP)' go test -tags e2e -count=1 -v -timeout 30m ./test/e2e
`}

func (p *planner) planTestTarget() error {
	if there, err := p.Exists("Makefile"); err != nil || !there {
		return err
	}
	return p.Insert("Makefile", plan.These(piece.MakefileVariable{Name: "SLIPWAY", Default: "slipway"}, e2eTarget))
}

// emptyTests is the file into which kubebuilder's create webhook inserts tests. Without it, that command stops
// half-way.
const emptyTests = endToEnd + "/e2e_test.go"

// CreateTestsFolder plans the file of end-to-end tests that a new project has.
func CreateTestsFolder(p *plan.Plan, data map[string]any) error {
	return p.CreateFrom("features-e2e/e2e_test.go", emptyTests, data)
}

// refuseOtherTests refuses a folder with other tests: two ways of deploying in one package do not compile.
func (p *planner) refuseOtherTests() error {
	if p.Recording() {
		return nil
	}
	if ours, err := p.Exists(endToEnd + "/main_test.go"); err != nil || ours {
		return err
	}
	if err := p.refuseOtherTarget(); err != nil {
		return err
	}
	found, err := fs.Glob(os.DirFS(p.Root()), endToEnd+"/*.go")
	if _, ours := p.Base().File(emptyTests); ours {
		found = slices.DeleteFunc(found, func(file string) bool { return file == emptyTests })
	}
	if err != nil || len(found) == 0 {
		return err
	}
	return &report.Error{
		Class: report.Conflict,
		What:  "the project has other end-to-end tests", Where: found[0],
		Hint: "nothing was changed. To use the feature's tests, first move yours and rename the Makefile's target test-e2e:\n" +
			"git mv " + endToEnd + " test/e2e-kind",
	}
}

// refuseOtherTarget refuses a Makefile whose target test-e2e runs other tests.
func (p *planner) refuseOtherTarget() error {
	c, err := p.Find("Makefile")
	if err != nil || !c.There() {
		return err
	}
	_, line := e2eTarget.Remove(c.After())
	if line == 0 {
		return nil
	}
	return &report.Error{
		Class: report.Conflict,
		What:  "the Makefile has another target test-e2e", Where: fmt.Sprintf("Makefile:%d", line),
		Hint: "nothing was changed; rename the target and its tests, such as to test-e2e-kind and test/e2e-kind, and run the command again",
	}
}

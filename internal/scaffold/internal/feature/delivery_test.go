package feature_test

import (
	"go/format"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/project"
)

// TestEndToEndOfOthers: the end-to-end tests of a project with a header between /* and */ keep Go's format, and its
// Makefile has the variable that their target uses, as long as it does.
func TestEndToEndOfOthers(t *testing.T) {
	const makefile = "generate:\n\tcontroller-gen object\n"
	root := newProject(t)
	projecttest.Unpack(t, root, "-- hack/boilerplate.go.txt --\n/*\nCopyright Example Ltd.\n*/\n-- Makefile --\n"+makefile)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.EndToEnd)))
	for _, name := range []string{"test/e2e/main_test.go", "test/e2e/operator_test.go"} {
		got := projecttest.Read(t, root, name)
		if formatted, err := format.Source([]byte(got)); err != nil || string(formatted) != got {
			t.Errorf("%s is not formatted: %v\n%s", name, err, got)
		}
	}
	projecttest.Holds(t, root, "Makefile", makefile+"\nSLIPWAY ?= slipway\n\n.PHONY: test-e2e\n")
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.EndToEnd)))
	if got := projecttest.Read(t, root, "Makefile"); got != makefile {
		t.Errorf("the Makefile is now\n%s", got)
	}
}

// TestWorkflowNamesRelease: the workflow uses the release by which it was enabled. Another one leaves it as it is, and
// takes it away. A slipway that is of no release names the branch.
func TestWorkflowNamesRelease(t *testing.T) {
	const file = ".github/workflows/ci.yml"
	by := func(version string) func(*plan.Plan, *project.Project) error {
		return func(p *plan.Plan, _ *project.Project) error { p.MadeBy(version); return nil }
	}
	root := newProject(t)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), by("v0.1.0"), feature.Enable(features.Workflow)))
	projecttest.Holds(t, root, file, "uses: slipway-dev/slipway@v0.1.0\n", "!@main")
	if p, err := projectfile.Edit(fileview.Disk(root), by("v0.2.0"), feature.Enable(features.Workflow)); err != nil || !p.Empty() {
		t.Errorf("another release changes it: %v", err)
	}
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), by("v0.2.0"), feature.Disable(features.Workflow)))
	if _, err := os.Stat(filepath.Join(root, file)); err == nil {
		t.Error("another release does not take it away")
	}
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), by("devel"), feature.Enable(features.Workflow)))
	projecttest.Holds(t, root, file, "uses: slipway-dev/slipway@main # name a tag")
}

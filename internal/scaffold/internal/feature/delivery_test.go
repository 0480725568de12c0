package feature_test

import (
	"go/format"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// TestEndToEndOfOthers: the end-to-end tests of a project with a header between /* and */ keep Go's format, and its
// Makefile has the variable that their target uses, as long as it does.
func TestEndToEndOfOthers(t *testing.T) {
	const makefile = "generate:\n\tcontroller-gen object\n"
	root := newProject(t)
	projecttest.Unpack(t, root, "-- hack/boilerplate.go.txt --\n/*\nCopyright Example Ltd.\n*/\n-- Makefile --\n"+makefile)
	projecttest.Apply(t)(projecttest.Edit(root, feature.Enable(feature.EndToEnd)))
	for _, name := range []string{"test/e2e/main_test.go", "test/e2e/operator_test.go"} {
		got := projecttest.Read(t, root, name)
		if formatted, err := format.Source([]byte(got)); err != nil || string(formatted) != got {
			t.Errorf("%s is not formatted: %v\n%s", name, err, got)
		}
	}
	projecttest.Holds(t, root, "Makefile", makefile+"\nSLIPWAY ?= slipway\n\n.PHONY: test-e2e\n")
	projecttest.Apply(t)(projecttest.Edit(root, feature.Disable(feature.EndToEnd)))
	if got := projecttest.Read(t, root, "Makefile"); got != makefile {
		t.Errorf("the Makefile is now\n%s", got)
	}
}

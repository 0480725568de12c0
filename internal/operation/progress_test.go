package operation_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/operation/operationtest"
	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// TestLongWorkBegins: what takes seconds in a large project begins with a step, whose progress is shown while it goes
// on.
func TestLongWorkBegins(t *testing.T) {
	s, told := operationtest.Begin(t, t.TempDir())
	if _, err := projects.Init(t.Context(), s, projects.Project{Project: scaffold.Project{Domain: "example.com", Repo: "example.com/op", Name: "op"}}); err != nil {
		t.Fatal(err)
	}
	api := projects.API{API: scaffold.API{Group: "ship", Version: "v1", Kind: "Brig", Resource: true, Controller: true}}
	deletion := scaffold.Deletion{Group: "ship", Version: "v1", Kind: "Brig"}
	// without runs a verb that needs a cluster, of which there is none.
	without := func(run func(delivery.Target) error) func() error {
		return func() error {
			if err := run(delivery.Target{Kubeconfig: "none"}); err == nil {
				return errors.New("it has no cluster, and no error")
			}
			return nil
		}
	}
	for _, verb := range []struct {
		name  string
		run   func() error
		steps []string
	}{
		{"create api", func() error { return operationtest.Err(projects.CreateAPI(t.Context(), s, api)) }, []string{"planning the change", "checking that kustomizations still build", "checking that the code still compiles"}},
		{"generate", func() error { return operationtest.Err(generation.Generate(t.Context(), s, generation.Generation{})) }, []string{"generating"}},
		{"edit", func() error {
			return operationtest.Err(projects.EditProject(t.Context(), s, projects.Edit{Enable: []string{"ha"}}))
		}, []string{"planning the change", "checking that kustomizations still build"}},
		{"undeploy", without(func(to delivery.Target) error {
			return operationtest.Err(delivery.Undeploy(t.Context(), s, "", delivery.Removal{From: to}))
		}), []string{"building config/default"}},
		{"uninstall", without(func(to delivery.Target) error {
			return operationtest.Err(delivery.Uninstall(t.Context(), s, "", delivery.Removal{From: to}))
		}), []string{"building config/crd"}},
		{"delete api", func() error {
			return operationtest.Err(projects.DeleteAPI(t.Context(), s, projects.Deletion{Deletion: deletion}))
		}, []string{"planning the change"}},
	} {
		told.All = nil
		if err := verb.run(); err != nil {
			t.Fatalf("%s: %v", verb.name, err)
		}
		var begun []string
		for _, step := range operationtest.Of[report.Step](told) {
			if step.Elapsed == 0 {
				begun = append(begun, step.Name)
			}
		}
		for _, want := range verb.steps {
			if !slices.Contains(begun, want) {
				t.Errorf("%s begins %q, not %s", verb.name, begun, want)
			}
		}
	}
}

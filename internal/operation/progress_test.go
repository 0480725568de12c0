package operation

import (
	"errors"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// TestLongWorkBegins: what takes seconds in a large project begins with a step, whose progress is shown while it goes
// on.
func TestLongWorkBegins(t *testing.T) {
	s, told := begin(t, t.TempDir())
	if err := s.Init(t.Context(), Project{Project: scaffold.Project{Domain: "example.com", Repo: "example.com/op", Name: "op"}}); err != nil {
		t.Fatal(err)
	}
	api := API{API: scaffold.API{Group: "ship", Version: "v1", Kind: "Brig", Resource: true, Controller: true}}
	deletion := scaffold.Deletion{Group: "ship", Version: "v1", Kind: "Brig"}
	// without runs a verb that needs a cluster, of which there is none.
	without := func(run func(Target) error) func() error {
		return func() error {
			if err := run(Target{Kubeconfig: "none"}); err == nil {
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
		{"create api", func() error { return s.CreateAPI(t.Context(), api) }, []string{"planning the change", "checking that kustomizations still build", "checking that the code still compiles"}},
		{"generate", func() error { return s.Generate(t.Context(), Generation{}) }, []string{"generating"}},
		{"edit", func() error { return s.Edit(t.Context(), Edit{Enable: []string{"ha"}}) }, []string{"planning the change", "checking that kustomizations still build"}},
		{"undeploy", without(func(to Target) error { return s.Undeploy(t.Context(), "", Removal{From: to}) }), []string{"building config/default"}},
		{"uninstall", without(func(to Target) error { return s.Uninstall(t.Context(), "", Removal{From: to}) }), []string{"building config/crd"}},
		{"delete api", func() error { return s.DeleteAPI(t.Context(), Deletion{Deletion: deletion}) }, []string{"planning the change"}},
	} {
		told.all = nil
		if err := verb.run(); err != nil {
			t.Fatalf("%s: %v", verb.name, err)
		}
		var begun []string
		for _, step := range of[report.Step](told) {
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

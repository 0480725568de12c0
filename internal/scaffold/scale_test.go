package scaffold

import (
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// BenchmarkVerbs plans what verbs do in a project with 100 APIs; bench/scaffold measures them
// as commands.
func BenchmarkVerbs(b *testing.B) {
	root := b.TempDir()
	planned := func(plan *Plan, err error) *Plan {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
		return plan
	}
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	must(planned(Init(fileview.Disk(root), Project{Name: "op", Domain: "example.com", Repo: "example.com/op"})).Apply(report.Discard))
	for i := range 100 {
		api := API{Group: "ship", Version: "v1", Kind: fmt.Sprintf("Kind%d", i), Resource: true, Controller: true, Namespaced: true}
		must(planned(CreateAPI(fileview.Disk(root), api)).Apply(report.Discard))
	}
	for _, verb := range []struct {
		name string
		plan func() (*Plan, error)
	}{
		{"create", func() (*Plan, error) {
			return CreateAPI(fileview.Disk(root), API{Group: "ship", Version: "v1", Kind: "New", Resource: true, Controller: true, Namespaced: true})
		}},
		{"webhook", func() (*Plan, error) {
			return CreateWebhook(fileview.Disk(root), Webhook{Group: "ship", Version: "v1", Kind: "Kind7", Defaulting: true, Validation: true})
		}},
		{"delete", func() (*Plan, error) {
			return DeleteAPI(fileview.Disk(root), Deletion{Group: "ship", Version: "v1", Kind: "Kind7"})
		}},
		{"multigroup", func() (*Plan, error) { return EditProject(fileview.Disk(root), MultiGroup(true)) }},
		{"feature", func() (*Plan, error) { return EditProject(fileview.Disk(root), Enable(features.NetworkPolicy)) }},
	} {
		b.Run(verb.name, func(b *testing.B) {
			for b.Loop() {
				planned(verb.plan())
			}
		})
	}
}

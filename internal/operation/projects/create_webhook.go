package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Webhook describes the webhooks of a kind to add to a project.
type Webhook struct {
	scaffold.Webhook
	Certs string // certificate provider: self or cert-manager; "" lets the project decide
	Change
}

// CreateWebhook adds webhooks of a kind to the project.
func CreateWebhook(ctx context.Context, s *operation.Session, w Webhook) ([]report.File, error) {
	root, err := s.ProjectRoot()
	if err != nil {
		return nil, err
	}
	if w.Certificates, err = parseCertificates(w.Certs); err != nil {
		return nil, err
	}
	postponeConversion(s, root, &w.Webhook)
	check := func() error { return scaffold.CheckWebhook(s.Folder(root), w.Webhook) }
	if err := fetchExternal(ctx, s, root, w.Preview, w.External, check); err != nil {
		return nil, err
	}
	var planned *scaffold.Plan
	changes, err := MakeChange(ctx, s, root, w.Preview, func() (made *scaffold.Plan, err error) {
		if planned, err = scaffold.CreateWebhook(s.Folder(root), w.Webhook); err == nil {
			err = requireGenerator(s, root, planned)
		}
		return unlessBroken(ctx, s, root, w.NoTypecheck, planned, err)
	}, func() error { return afterCreateWebhook(ctx, s, root, w, planned) })
	return noteGenerating(s, root, w.Change, planned, changes, err)
}

// requireGenerator refuses a plan whose new kustomization lists the generated webhook configurations if no call in the
// Makefile generates them. It could not be deployed.
func requireGenerator(s *operation.Session, root string, planned *scaffold.Plan) error {
	lists := slices.ContainsFunc(planned.Changes(), func(f report.File) bool {
		return f.Path == codebase.WebhookFolder+"/kustomization.yaml" && f.Action == report.Created
	})
	if !lists {
		return nil
	}
	code := s.Codebase(root)
	plan, _, err := regenerate.PlanFor(root, code)
	if err != nil {
		return nil // generating reports it
	}
	if there, err := fileview.Exists(code.View(), codebase.WebhookFolder+"/manifests.yaml"); there || err != nil || plan.WithoutWebhooks() == "" {
		return nil
	}
	return &report.Error{
		Class: report.BadProject,
		What:  "no call of controller-gen generates configurations of webhooks", Where: plan.WithoutWebhooks(),
		Hint: "nothing was changed; " + codebase.WebhookFolder + " would list a file that is never made: add webhook to the arguments of this call, and run the command again",
	}
}

// postponeConversion removes the conversion from a request for several webhooks if the kind has only one version. It
// warns of that.
func postponeConversion(s *operation.Session, root string, w *scaffold.Webhook) {
	if !w.Conversion || !w.Defaulting && !w.Validation || !errors.Is(scaffold.CheckWebhook(s.Folder(root), *w), scaffold.ErrOneVersion) {
		return
	}
	w.Conversion, w.Spokes = false, nil
	s.Handler.Handle(report.Warning{Text: fmt.Sprintf("no conversion was added: %[2]s has only the version %[3]s. Add a version: run "+
		"slipway create api --group %[1]s --version v2 --kind %[2]s --resource --controller=false; for the conversion then run "+
		"slipway create webhook --group %[1]s --version %[3]s --kind %[2]s --conversion", w.Group, w.Kind, w.Version)})
}

// afterCreateWebhook generates for the new webhooks and reports the next step.
func afterCreateWebhook(ctx context.Context, s *operation.Session, root string, w Webhook, planned *scaffold.Plan) error {
	if w.Generate {
		if err := filterWarnings(s, root, planned, func(s *operation.Session) error { return generation.GenerateAfter(ctx, s, root, planned) }); err != nil {
			return err
		}
	}
	s.Handler.Handle(report.Note{Text: "Next: " + toWrite(s, root, w.Webhook) + ", then run " + thenTest(s, root)})
	return nil
}

// thenTest returns the commands that test a project's webhooks. The project's own generate command comes first if
// slipway test does not generate all.
func thenTest(s *operation.Session, root string) string {
	const test = "slipway test ./..."
	if plan, _, err := regenerate.PlanFor(root, s.Codebase(root)); err == nil && plan.Command() != "" {
		return plan.Command() + " && " + test
	}
	return test
}

// toWrite returns what the operator's author has to write for new webhooks.
func toWrite(s *operation.Session, root string, w scaffold.Webhook) string {
	var parts []string
	if w.Defaulting || w.Validation {
		parts = append(parts, "write the webhooks in "+webhookFolder(s, root, w))
	}
	if w.Conversion {
		parts = append(parts, "convert the fields with TODO in the files "+strings.ToLower(w.Kind)+"_conversion.go beside the types")
	}
	return strings.Join(parts, " and ")
}

// webhookFolder returns the folder of a kind's webhooks, for messages.
func webhookFolder(s *operation.Session, root string, w scaffold.Webhook) string {
	usual := "internal/webhook"
	file, err := scaffold.ProjectInCode(s.Folder(root))
	if err != nil {
		return usual
	}
	if r := file.Lookup(w.Group, w.Version, w.Kind); r != nil && file.WebhooksBesideTypes(*r) {
		return file.WebhookDir(*r)
	}
	return usual
}

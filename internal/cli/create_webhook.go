package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// webhookFlags are the flags of `slipway create webhook`.
type webhookFlags struct {
	scaffold.Webhook
	createFlags
	certs string
}

func (inv *invocation) createWebhookCommand() *cobra.Command {
	var f webhookFlags
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Add webhooks for a kind: defaulting, validation, conversion",
		Long: `Webhook adds webhooks for a kind: the API server asks them before it stores an object, and to
convert one between versions. It writes their code, tests that run them against a control plane,
what deploys them in config/webhook, and the lines in cmd/main.go that serve them unless
the variable ENABLE_WEBHOOKS is false.

The kind is one of the project's, one of Kubernetes itself (--group core --kind Pod, --group apps
--kind Deployment) or one of another module (--external-api-path).

For conversion the version given is the hub; --spoke names those that are converted to and from
it, all others of the kind when it is not given. Fields of the same type are copied,
lines with TODO say what is not, and a test beside the types converts random objects
there and back: nothing may be lost.

The operator keeps the certificate of its webhooks itself, which works on every cluster. With
--certs cert-manager, cert-manager issues it. A project that has one of the two keeps it; a line in
config/default/kustomization.yaml says which, and slipway edit --certs changes it. A project made by
another tool gets cert-manager, since its manager does not start without a certificate.

On a terminal it asks for what flags do not say. What is there already is kept; called again, the command completes
what is missing, such as validation for a kind that has defaulting.`,
		Example: `  slipway create webhook --group batch --version v1 --kind CronJob --defaulting --programmatic-validation
  slipway create webhook --group batch --version v1 --kind CronJob --conversion --spoke v2
  slipway create webhook --group core --version v1 --kind Pod --defaulting`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.createWebhook(cmd, f) },
	}
	flags := cmd.Flags()
	bindKind(flags, &f.Group, &f.Version, &f.Kind)
	flags.StringVar(&f.Plural, "plural", "", "`name` of the resource, when English rules do not give it")
	flags.BoolVar(&f.Defaulting, "defaulting", false, "fill in what the author of an object left out")
	flags.BoolVar(&f.Validation, "programmatic-validation", false, "refuse objects that cannot be right")
	flags.BoolVar(&f.Conversion, "conversion", false, "convert other versions to and from this one, the hub")
	flags.StringSliceVar(&f.Spokes, "spoke", nil, "other `versions` to convert (default: all)")
	flags.StringVar(&f.DefaultingPath, "defaulting-path", "", "`path` of the defaulting webhook on the server (default: from the kind)")
	flags.StringVar(&f.ValidationPath, "validation-path", "", "`path` of the validating webhook on the server (default: from the kind)")
	bindExternal(flags, &f.External)
	flags.StringVar(&f.certs, "certs", "", "certificate `provider`: self for the operator (default), or cert-manager")
	f.bind(flags)
	return inv.accept(cmd, oldWebhookFlags)
}

// createWebhook is the run of `slipway create webhook`.
func (inv *invocation) createWebhook(cmd *cobra.Command, f webhookFlags) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	if err := inv.askWebhook(cmd, root, &f.Webhook); err != nil {
		return err
	}
	if f.Certificates, err = parseCertificates(f.certs); err != nil {
		return err
	}
	inv.postponeConversion(root, &f.Webhook)
	check := func() error { return scaffold.CheckWebhook(root, f.Webhook) }
	if err := inv.fetchExternal(cmd.Context(), root, f.createFlags, f.External, check); err != nil {
		return err
	}
	return inv.change(cmd.Context(), root, f.changeFlags,
		func() (*scaffold.Plan, error) { return scaffold.CreateWebhook(root, f.Webhook) },
		func() error { return inv.afterCreateWebhook(cmd.Context(), root, f) })
}

// postponeConversion leaves the conversion out of several webhooks where the kind has one version. It says what the conversion needs.
func (inv *invocation) postponeConversion(root string, w *scaffold.Webhook) {
	if !w.Conversion || !w.Defaulting && !w.Validation || !errors.Is(scaffold.CheckWebhook(root, *w), scaffold.ErrOneVersion) {
		return
	}
	w.Conversion, w.Spokes = false, nil
	inv.handler.Handle(report.Warning{Text: fmt.Sprintf("no conversion is made: %[2]s has version %[3]s alone. Another version comes with "+
		"slipway create api --group %[1]s --version v2 --kind %[2]s --resource --controller=false, and then the conversion with "+
		"slipway create webhook --group %[1]s --version %[3]s --kind %[2]s --conversion", w.Group, w.Kind, w.Version)})
}

// afterCreateWebhook generates what follows from the new webhooks.
func (inv *invocation) afterCreateWebhook(ctx context.Context, root string, f webhookFlags) error {
	if f.generate {
		if err := inv.generateOnly(ctx, root); err != nil {
			return err
		}
	}
	inv.handler.Handle(report.Note{Text: "Next: " + toWrite(f.Webhook) + ", then run slipway test ./..."})
	return nil
}

// toWrite says what of new webhooks is left to their author.
func toWrite(w scaffold.Webhook) string {
	var parts []string
	if w.Defaulting || w.Validation {
		parts = append(parts, "write the webhooks in internal/webhook")
	}
	if w.Conversion {
		parts = append(parts, "convert what says TODO in the files "+strings.ToLower(w.Kind)+"_conversion.go beside the types")
	}
	return strings.Join(parts, " and ")
}

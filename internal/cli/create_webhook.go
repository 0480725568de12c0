package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) createWebhookCommand() *cobra.Command {
	var w operation.Webhook
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
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.createWebhook(cmd, w) },
	}
	flags := cmd.Flags()
	bindKind(flags, &w.Group, &w.Version, &w.Kind)
	flags.StringVar(&w.Plural, "plural", "", "`name` of the resource, when English rules do not give it")
	flags.BoolVar(&w.Defaulting, "defaulting", false, "fill in what the author of an object left out")
	flags.BoolVar(&w.Validation, "programmatic-validation", false, "refuse objects that cannot be right")
	flags.BoolVar(&w.Conversion, "conversion", false, "convert other versions to and from this one, the hub")
	flags.StringSliceVar(&w.Spokes, "spoke", nil, "other `versions` to convert (default: all)")
	flags.StringVar(&w.DefaultingPath, "defaulting-path", "", "`path` of the defaulting webhook on the server (default: from the kind)")
	flags.StringVar(&w.ValidationPath, "validation-path", "", "`path` of the validating webhook on the server (default: from the kind)")
	bindExternal(flags, &w.External.Path, &w.External.Domain, &w.External.Module)
	bindSkipWiring(flags, &w.SkipWiring)
	flags.StringVar(&w.Certs, "certs", "", "certificate `provider`: self for the operator (default), or cert-manager")
	bindForce(flags)
	bindChange(flags, &w.Change)
	return inv.acceptPlugins(inv.accept(cmd, oldWebhookFlags), false)
}

// createWebhook is the run of `slipway create webhook`.
func (inv *invocation) createWebhook(cmd *cobra.Command, w operation.Webhook) error {
	session := inv.session()
	root, err := session.ProjectRoot()
	if err != nil {
		return err
	}
	if err := inv.askWebhook(cmd, root, &w); err != nil {
		return err
	}
	return withoutWiring(cmd, session.CreateWebhook(cmd.Context(), w))
}

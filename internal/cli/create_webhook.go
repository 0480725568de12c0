package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/projects"
)

func (inv *invocation) createWebhookCommand() *cobra.Command {
	var w projects.Webhook
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Add webhooks for a kind: defaulting, validation, conversion",
		Long: `Webhook adds webhooks for a kind. The API server calls them before it stores an object, and to
convert an object between versions. The command writes their code, tests that run them against a
control plane, and their manifests in config/webhook. Lines in cmd/main.go serve them unless
the variable ENABLE_WEBHOOKS is false.

The kind belongs to the project, to Kubernetes itself (--group core --kind Pod, --group apps
--kind Deployment) or to another module (--external-api-path).

For conversion the version given is the hub. --spoke names the versions to convert to and from
it; by default these are all others of the kind. Fields of the same type are copied, and TODO
comments mark the fields that are not. A test beside the types converts random objects
to the hub and back, and fails if data are lost.

By default the operator issues the certificate of its webhooks itself, which works on every cluster. With
--certs cert-manager, cert-manager issues it. A project that has one of the two keeps it; 'slipway edit --certs'
changes it. A project made by another tool gets cert-manager, since its manager does not start without a
certificate.

On a terminal the command prompts for missing flags. Existing files are kept; a second run adds only what is
missing, such as validation for a kind that has defaulting.`,
		Example: `  slipway create webhook --group batch --version v1 --kind CronJob --defaulting --programmatic-validation
  slipway create webhook --group batch --version v1 --kind CronJob --conversion --spoke v2
  slipway create webhook --group core --version v1 --kind Pod --defaulting`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.createWebhook(cmd, w) },
	}
	flags := cmd.Flags()
	bindKind(flags, &w.Group, &w.Version, &w.Kind)
	flags.StringVar(&w.Plural, "plural", "", "`name` of the resource, if English rules give a wrong one")
	flags.BoolVar(&w.Defaulting, "defaulting", false, "add a webhook that sets defaults for fields that are not set")
	flags.BoolVar(&w.Validation, "programmatic-validation", false, "add a webhook that refuses invalid objects")
	flags.BoolVar(&w.Conversion, "conversion", false, "add a webhook that converts other versions to and from this one, the hub")
	flags.StringSliceVar(&w.Spokes, "spoke", nil, "other `versions` to convert (default: all)")
	flags.StringVar(&w.DefaultingPath, "defaulting-path", "", "`path` of the defaulting webhook on the server (default: from the kind)")
	flags.StringVar(&w.ValidationPath, "validation-path", "", "`path` of the validating webhook on the server (default: from the kind)")
	bindExternal(flags, &w.External.Path, &w.External.Domain, &w.External.Module)
	bindSkipWiring(flags, &w.SkipWiring)
	bindManager(flags, &w.Manager)
	flags.StringVar(&w.Certs, "certs", "", "certificate `provider`: self, the operator (default), or cert-manager")
	bindForce(flags)
	bindChange(flags, &w.Change)
	return inv.acceptPlugins(inv.accept(cmd, oldWebhookFlags), false)
}

// createWebhook is the run of `slipway create webhook`.
func (inv *invocation) createWebhook(cmd *cobra.Command, w projects.Webhook) error {
	session := inv.session()
	if _, err := session.ProjectRoot(); err != nil {
		return err
	}
	if err := inv.askWebhook(cmd, operation.Kinds(session), &w); err != nil {
		return err
	}
	return unchecked(cmd, done(projects.CreateWebhook(cmd.Context(), session, w)))
}

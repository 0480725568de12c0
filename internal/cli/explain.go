package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
)

// explainCommand is `slipway explain`.
func (inv *invocation) explainCommand() *cobra.Command {
	var e delivery.Explanation
	var web bool
	cmd := &cobra.Command{
		Use:   "explain [KIND NAME]",
		Short: "Say why an object is as it is",
		Long: `Explain looks at an object of the cluster of the current context, and writes nothing there. Its first line has
the state of the object and, if it is not ready, the cause:

  ready          nothing is wrong with it, nor with what it owns
  in progress    it is not ready yet, and nothing is wrong so far
  not ready      with the cause that explains the most
  stuck          its deletion does not end: who has to do what
  missing        it does not exist, and what keeps it from being created

Causes are looked for in the object and in all that it owns, down to the containers of pods: images, crashes, volumes,
quotas, scheduling. They are also looked for in what decides about it: its owners, its CRD, the webhooks that are called
for it, and the operator that 'slipway deploy' has deployed with its CRD. Embedded clusters keep a record of all writes
and refusals: explain finds in it what was refused, and who has changed what. Below that, explain shows what the object
owns and the newest changes. With --web, all of this is a page for the browser, with the controllers, their reconciles and
a graph of all objects.

KIND is named as for kubectl: a kind, a plural or a short name, if need be with its group, such as 'certificates.cert-manager.io'.`,
		Example: `  slipway explain deployment web
  slipway explain frigate first -n fleet
  slipway explain namespace shop
  slipway explain deployment web --field .spec.replicas
  slipway explain pod web-6f7d8 --output json
  slipway explain --web`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 || len(args) == 0 && web {
				return nil
			}
			return &report.Error{What: "explain needs a kind and a name", Where: cmd.CommandPath(), Hint: "expected two arguments, such as deployment web", Next: "slipway explain --help", Code: report.UsageCode}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				e.Kind, e.Name = args[0], args[1]
			}
			if web {
				return delivery.Page(cmd.Context(), inv.session(), e)
			}
			return delivery.Explain(cmd.Context(), inv.session(), e)
		},
	}
	cmd.AddCommand(inv.explainRequestsCommand(), inv.explainReconcilesCommand())
	bindContext(cmd.Flags(), &e.In)
	cmd.Flags().StringVarP(&e.Namespace, "namespace", "n", "", "`namespace` of the object; default: that of the kubeconfig")
	cmd.Flags().StringVar(&e.Field, "field", "", "show the history of the field with this `path`, such as .spec.replicas")
	cmd.Flags().DurationVar(&e.Since, "since", 0, "show only changes of this last `time`, such as 10m")
	cmd.Flags().BoolVarP(&e.Follow, "follow", "f", false, "go on with the object's changes as they come, until Ctrl-C")
	cmd.Flags().BoolVar(&e.Tree, "tree", false, "show all that the object owns, not only the first ones")
	cmd.Flags().BoolVar(&web, "web", false, "show all of this as a page in the browser, until Ctrl-C")
	cmd.MarkFlagsMutuallyExclusive("web", "field")
	cmd.MarkFlagsMutuallyExclusive("web", "since")
	cmd.MarkFlagsMutuallyExclusive("web", "follow")
	cmd.MarkFlagsMutuallyExclusive("web", "tree")
	return cmd
}

// explainRequestsCommand is `slipway explain requests`.
func (inv *invocation) explainRequestsCommand() *cobra.Command {
	return inv.recentCommand(delivery.ExplainRequests, &cobra.Command{
		Use:   "requests",
		Short: "List refused requests with the rights that are missing",
		Long: `Requests lists the requests that the API server of an embedded cluster has refused, the newest first: whose they
were, how often, and why. If a right is missing, it has the marker that gives it: 'slipway generate' makes the role.
Conflicts and objects that were not found are left out, since clients look again and repeat the request.`,
		Example: `  slipway explain requests
  slipway explain requests --since 10m
  slipway explain requests --output json`,
	})
}

// explainReconcilesCommand is `slipway explain reconciles`.
func (inv *invocation) explainReconcilesCommand() *cobra.Command {
	return inv.recentCommand(delivery.ExplainReconciles, &cobra.Command{
		Use:   "reconciles",
		Short: "Sum up what operators have done",
		Long: `Reconciles sums up what the operators of 'slipway dev' have done:

  reconciles     of each controller: how many, how long they take, how they end
  errors         that controllers have logged, by kind
  woken by       events that their watches were sent
  writes         also those that changed nothing, conflicts and refusals
  reads          that no cache has answered
  never at rest  objects that they write again and again
  caches grow    by how many objects, since their watches began

It reads the record of an embedded cluster, at most its newest 2,000 entries, and says how
far back these reach. 'slipway explain --web' shows each reconcile with its requests and log.`,
		Example: `  slipway explain reconciles
  slipway explain reconciles --since 10m --output json`,
	})
}

// recentCommand completes a command that asks the record.
func (inv *invocation) recentCommand(ask func(context.Context, *operation.Session, delivery.Recent) error, cmd *cobra.Command) *cobra.Command {
	var r delivery.Recent
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return ask(cmd.Context(), inv.session(), r) }
	bindContext(cmd.Flags(), &r.In)
	cmd.Flags().DurationVar(&r.Since, "since", time.Hour, "look at this last `time`, such as 10m")
	return cmd
}

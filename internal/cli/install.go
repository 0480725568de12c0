package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// crdFolder holds the kustomization of a project's definitions.
const crdFolder = "config/crd"

// destination are the flags that say which cluster is meant.
type destination struct {
	kubeconfig, context string
	timeout             time.Duration
}

// addFlags declares d's flags; wait says what the timeout is for.
func (d *destination) addFlags(cmd *cobra.Command, wait string) {
	cmd.Flags().StringVar(&d.kubeconfig, "kubeconfig", "", "kubeconfig `file`; default: KUBECONFIG, else ~/.kube/config")
	cmd.Flags().StringVar(&d.context, "context", "", "`context` of the kubeconfig; default: its current one")
	cmd.Flags().DurationVar(&d.timeout, "timeout", ship.DefaultTimeout, "how long to wait "+wait)
}

// connect returns the cluster that d means.
func (inv *invocation) connect(d destination) (*ship.Cluster, error) {
	if d.timeout < 0 {
		return nil, &report.Error{What: "a timeout cannot be negative", Where: "--timeout", Hint: "expected a duration such as 30s or 2m", Code: usageCode}
	}
	k := ship.Kubeconfig{Path: d.kubeconfig, List: inv.Getenv("KUBECONFIG"), Context: d.context}
	return ship.Connect(k, inv.handler)
}

// installCommand is `slipway install`.
func (inv *invocation) installCommand() *cobra.Command {
	var to destination
	var options ship.ApplyOptions
	var preview changeFlags
	var yes bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Bring the project's CRDs into the cluster",
		Long: `Install brings the project's custom resource definitions (config/crd) into the cluster of the
current context and waits until the API server serves them. They are generated first where the types
have changed.

They are applied on the server's side, so they may be of any size. A second run changes nothing. A CRD that left the
project is deleted, with its objects, if you say so: install asks, and keeps it without a terminal and --yes.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Timeout = to.timeout
			options.Consent = inv.consent(yes, keepShared)
			return inv.install(cmd.Context(), to, options, preview)
		},
	}
	to.addFlags(cmd, "for the definitions to be served")
	cmd.Flags().BoolVar(&options.Force, "force-conflicts", false, "take over fields that others own")
	bindConsent(cmd.Flags(), &yes)
	preview.bindCluster(cmd.Flags())
	return cmd
}

// install generates, builds and applies the definitions.
func (inv *invocation) install(ctx context.Context, to destination, o ship.ApplyOptions, preview changeFlags) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	if err := inv.regenerate(ctx, root); err != nil {
		return err
	}
	definitions, err := inv.buildDefinitions(ctx, root)
	if err != nil {
		return err
	}
	if o.Set, err = definitionsSet(root); err != nil {
		return err
	}
	cluster, err := inv.connect(to)
	if err != nil {
		return err
	}
	if err := inv.takeBack(ctx, cluster, preview.preview()); err != nil {
		return err
	}
	if preview.preview() {
		return inv.previewObjects(ctx, cluster, definitions, o, preview)
	}
	return cluster.Apply(ctx, definitions, o)
}

// regenerate brings generated files up to date, before a command that uses them.
func (inv *invocation) regenerate(ctx context.Context, root string) error {
	release, err := inv.hold(ctx, root)
	if err != nil {
		return err
	}
	defer release()
	return inv.generateOnly(ctx, root)
}

// uninstallCommand is `slipway uninstall`.
func (inv *invocation) uninstallCommand() *cobra.Command {
	var from destination
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the project's CRDs, and their objects, from the cluster",
		Long: `Uninstall removes what install brought into the cluster: the project's custom resource
definitions, and with them every object of these kinds. It returns when they are gone. What is not
there is not an error. CRDs that others brought stay. For those that have objects uninstall asks first;
without a terminal and --yes nothing is deleted then.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.uninstall(cmd.Context(), from, dryRun, inv.consent(yes, refuseShared(cmd.CommandPath())))
		},
	}
	from.addFlags(cmd, "for the definitions and their objects to be gone")
	bindConsent(cmd.Flags(), &yes)
	bindDeletion(cmd.Flags(), &dryRun)
	return cmd
}

// uninstall builds the definitions and deletes them.
func (inv *invocation) uninstall(ctx context.Context, from destination, dryRun bool, consent ship.Consent) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	definitions, err := inv.buildDefinitions(ctx, root)
	if err != nil {
		return err
	}
	set, err := definitionsSet(root)
	if err != nil {
		return err
	}
	return inv.remove(ctx, from, definitions, dryRun, ship.DeleteOptions{Set: set, Consent: consent, Timeout: from.timeout})
}

// buildDefinitions builds the definitions of the project in root. Having none is reported and no mistake.
func (inv *invocation) buildDefinitions(ctx context.Context, root string) ([]*unstructured.Unstructured, error) {
	dir := filepath.Join(root, filepath.FromSlash(crdFolder))
	if !ship.IsKustomization(dir) {
		return nil, &report.Error{
			What:  "the project has no custom resource definitions",
			Where: dir,
			Hint:  "they come with the project's first API",
			Next:  "slipway create api --group batch --version v1 --kind CronJob --resource --controller",
		}
	}
	definitions, err := ship.Build(ctx, dir)
	if known, ok := errors.AsType[*report.Error](err); ok && known.Next == "" {
		known.Next = "slipway generate"
	}
	if err == nil && len(definitions) == 0 {
		inv.handler.Handle(report.Note{Text: crdFolder + " has no definitions; they come with the project's first API (slipway create api)"})
	}
	return definitions, err
}

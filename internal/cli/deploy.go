package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Where a project keeps what is deployed, and the operator's image in it.
const (
	defaultFolder = "config/default"
	managerFolder = "config/manager"
)

// deployTimeout is how long an operator may take to run: the first pull of its image is in it.
const deployTimeout = 2 * time.Minute

// deployment is what `slipway deploy` and `slipway undeploy` are about.
type deployment struct {
	to     destination
	folder string // the kustomization, relative to the project
	image  string // empty leaves the project's own
}

// deployCommand is `slipway deploy`.
func (inv *invocation) deployCommand() *cobra.Command {
	var d deployment
	var options ship.ApplyOptions
	var wait, show, yes bool
	var preview changeFlags
	cmd := &cobra.Command{
		Use:   "deploy [IMG=REF]",
		Short: "Run the operator in the cluster",
		Long: `Deploy brings everything that config/default describes into the cluster of the current context: the
custom resource definitions, the access rules, the operator's Deployment, and what its features add. What follows
from the code is generated first. It tells what became of each object, and waits until the operator runs; where
that fails, it says why, from the pods, their events and their logs.

Objects are applied on the server's side. A second run changes nothing. Whatever make deploy or kubectl apply brought to
the cluster is taken over; fields that others set differently are conflicts. An inventory in the cluster (an ApplySet, as
kubectl has it) lists what belongs to the deployment. What left the configuration since is deleted; for namespaces
and CRDs deploy asks first, and without a terminal and --yes it keeps them.

In an embedded cluster, workloads whose image was loaded or pushed again under its old name are restarted.

With --print the objects are shown instead, as one YAML stream: an installer for those without the project.`,
		Example: `  slipway deploy --image registry.example.com/team/operator:v1
  slipway deploy --image registry.example.com/team/operator:v1 --print > dist/install.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.readArguments(args); err != nil {
				return err
			}
			if err := d.checkImage(cmd.Flags().Changed("image")); err != nil {
				return err
			}
			if show {
				return inv.printDeployment(cmd.Context(), d)
			}
			options.Timeout = d.to.timeout
			options.Consent = inv.consent(yes, keepShared)
			return inv.deploy(cmd.Context(), d, options, wait, preview)
		},
	}
	d.addFlags(cmd, "for the operator to run")
	cmd.Flags().StringVar(&d.image, "image", "", "the operator's image, a `reference`; default: the configuration's")
	cmd.Flags().BoolVar(&wait, "wait", true, "wait until all is ready")
	cmd.Flags().BoolVar(&show, "print", false, "print the objects as YAML and touch no cluster")
	cmd.Flags().BoolVar(&options.Force, "force-conflicts", false, "take over fields that others own")
	bindConsent(cmd.Flags(), &yes)
	preview.bindCluster(cmd.Flags())
	return cmd
}

// addFlags declares the flags that deploy and undeploy share.
func (d *deployment) addFlags(cmd *cobra.Command, wait string) {
	d.to.addFlags(cmd, wait)
	timeout := cmd.Flags().Lookup("timeout")
	d.to.timeout, timeout.DefValue = deployTimeout, deployTimeout.String()
	cmd.Flags().StringVarP(&d.folder, "kustomize", "k", defaultFolder, "the `folder` with the kustomization")
}

// readArguments takes the image in make's spelling.
func (d *deployment) readArguments(args []string) error {
	for _, argument := range args {
		image, ok := strings.CutPrefix(argument, "IMG=")
		if !ok || image == "" {
			return &report.Error{What: "unexpected argument", Where: argument, Hint: "expected IMG=REFERENCE or flags", Code: usageCode}
		}
		d.image = image
	}
	return nil
}

// checkImage refuses what no node could pull. An image that is given and empty is a variable that was not set.
func (d *deployment) checkImage(given bool) error {
	if d.image == "" && !given {
		return nil
	}
	_, err := reference.Parse(d.image)
	return err
}

// within is the path of a folder that a flag names: in the project, unless it is absolute.
func within(root, folder string) string {
	if folder = filepath.FromSlash(folder); filepath.IsAbs(folder) {
		return folder
	}
	return filepath.Join(root, folder)
}

// buildDeployment generates and returns the objects to deploy from the project in root.
func (inv *invocation) buildDeployment(ctx context.Context, root string, d deployment) ([]*unstructured.Unstructured, error) {
	if err := inv.regenerate(ctx, root); err != nil {
		return nil, err
	}
	folder := within(root, d.folder)
	objects, err := ship.BuildWithImage(ctx, folder, within(root, managerFolder), d.image)
	if err == nil && len(objects) == 0 {
		return nil, noObjects(folder)
	}
	if err == nil && d.image != "" && !ship.RunsImage(objects, d.image) {
		inv.handler.Handle(report.Warning{Text: "no container of " + d.folder + " runs " + d.image + ": only one whose image is called controller in " + managerFolder + " gets it"})
	}
	return objects, err
}

// noObjects is the error of a kustomization that builds and describes nothing.
func noObjects(folder string) error {
	return &report.Error{
		What: "the kustomization has no objects", Where: folder,
		Hint: "expected the operator's at least: folders or files of its resources, none of them empty",
		Next: "slipway kustomize build " + folder,
	}
}

// deploy builds and applies the objects, and waits for them.
func (inv *invocation) deploy(ctx context.Context, d deployment, o ship.ApplyOptions, wait bool, preview changeFlags) error {
	defer inv.Collector.Patiently()()
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	objects, err := inv.buildDeployment(ctx, root, d)
	if err != nil {
		return err
	}
	if o.Set, err = deploymentSet(root, within(root, d.folder), objects); err != nil {
		return err
	}
	cluster, err := inv.connect(d.to)
	if err != nil {
		return err
	}
	if err := inv.takeBack(ctx, cluster, preview.preview()); err != nil {
		return err
	}
	outdated, err := inv.outdated(ctx, cluster, objects)
	if err != nil {
		return err
	}
	if preview.preview() {
		return withoutSelf(root, inv.previewObjects(ctx, cluster, objects, o, preview, outdated...))
	}
	if err := cluster.Apply(ctx, objects, o); err != nil {
		return withoutSelf(root, err)
	}
	if err := cluster.Restart(ctx, outdated); err != nil || !wait {
		return err
	}
	if err := cluster.AwaitReady(ctx, objects, d.to.timeout); err != nil {
		return err
	}
	inv.tellSimulated(ctx, cluster, objects)
	return nil
}

// withoutSelf suggests another command where cert-manager is missing and the project's manager cannot keep its certificates itself.
func withoutSelf(root string, err error) error {
	e, ok := errors.AsType[*report.Error](err)
	if !ok || ship.MissingGroup(err) != ship.CertManager || scaffold.CanKeepCertificates(root) {
		return err
	}
	advised := *e
	advised.Hint = "cert-manager is not installed in the cluster, and this manager does not start without a certificate: install cert-manager"
	advised.Next = "slipway kubectl apply -f https://github.com/cert-manager/cert-manager/releases/latest/download/cert-manager.yaml"
	return &advised
}

// printDeployment shows the objects.
func (inv *invocation) printDeployment(ctx context.Context, d deployment) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	objects, err := inv.buildDeployment(ctx, root, d)
	if err != nil {
		return err
	}
	objects = ship.InInstallOrder(objects)
	var documents []string
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return err
		}
		documents = append(documents, string(text))
	}
	inv.handler.Handle(report.Result{Text: strings.Join(documents, "---\n"), Value: objects})
	return nil
}

// undeployCommand is `slipway undeploy`.
func (inv *invocation) undeployCommand() *cobra.Command {
	var d deployment
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "undeploy",
		Short: "Remove the operator, its CRDs and their objects from the cluster",
		Long: `Undeploy removes what deploy brought into the cluster. The custom resource definitions go first, and with
them every object of these kinds, while the operator still runs: it may have to remove its finalizers from them. It returns
when all is gone. What is not there is not an error.

Only what belongs to the deployment goes, by its inventory in the cluster; what others brought under the same
names stays. CRDs with objects, and a namespace with more in it than the deployment, are asked about first;
without a terminal and --yes nothing is deleted then.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.undeploy(cmd.Context(), d, dryRun, inv.consent(yes, refuseShared(cmd.CommandPath())))
		},
	}
	d.addFlags(cmd, "for the objects to be gone")
	bindConsent(cmd.Flags(), &yes)
	bindDeletion(cmd.Flags(), &dryRun)
	return cmd
}

// undeploy builds the objects and deletes them. Nothing is generated: what is in
// the cluster came from what is there.
func (inv *invocation) undeploy(ctx context.Context, d deployment, dryRun bool, consent ship.Consent) error {
	root, err := inv.projectRoot()
	if err != nil {
		return err
	}
	folder := within(root, d.folder)
	objects, err := ship.Build(ctx, folder)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return noObjects(folder)
	}
	set, err := deploymentSet(root, folder, objects)
	if err != nil {
		return err
	}
	return inv.remove(ctx, d.to, objects, dryRun, ship.DeleteOptions{Set: set, Consent: consent, Timeout: d.to.timeout})
}

// remove deletes the members of a set, or tells which.
func (inv *invocation) remove(ctx context.Context, from destination, objects []*unstructured.Unstructured, dryRun bool, o ship.DeleteOptions) error {
	cluster, err := inv.connect(from)
	if err != nil {
		return err
	}
	if err := inv.takeBack(ctx, cluster, dryRun); err != nil {
		return err
	}
	if dryRun {
		return inv.previewDeletion(ctx, cluster, objects, o)
	}
	return cluster.Delete(ctx, objects, o)
}

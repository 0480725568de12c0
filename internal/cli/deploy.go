package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// deployCommand is `slipway deploy`.
func (inv *invocation) deployCommand() *cobra.Command {
	var d operation.Deployment
	show := false
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

With --print the objects are shown instead, as one YAML stream: an installer for those without the project. --print,
--dry-run and --diff generate in memory and write no file; --no-generate takes the project's files as they are.`,
		Example: `  slipway deploy --image registry.example.com/team/operator:v1
  slipway deploy --image registry.example.com/team/operator:v1 --print > dist/install.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := readArguments(args, &d.Image); err != nil {
				return err
			}
			if d.Image != "" || cmd.Flags().Changed("image") { // an empty one is a variable that was not set
				if err := operation.CheckImage(d.Image); err != nil {
					return err
				}
			}
			if show {
				return inv.session().PrintDeployment(cmd.Context(), d)
			}
			return inv.session().Deploy(cmd.Context(), d)
		},
	}
	bindTarget(cmd.Flags(), &d.To, operation.DeployTimeout, "for the operator to run")
	bindKustomization(cmd.Flags(), &d.Folder)
	cmd.Flags().StringVar(&d.Image, "image", "", "the operator's image, a `reference`; default: the configuration's")
	cmd.Flags().BoolVar(&d.Wait, "wait", true, "wait until all is ready")
	cmd.Flags().BoolVar(&show, "print", false, "print the objects as YAML and touch no cluster")
	cmd.Flags().BoolVar(&d.Force, "force-conflicts", false, "take over fields that others own")
	bindConsent(cmd.Flags(), &d.Yes)
	bindNoGenerate(cmd.Flags(), &d.NoGenerate)
	bindClusterPreview(cmd.Flags(), &d.Preview)
	return cmd
}

// bindKustomization declares the flag that names what is deployed.
func bindKustomization(flags *pflag.FlagSet, folder *string) {
	flags.StringVarP(folder, "kustomize", "k", operation.DefaultFolder, "the `folder` with the kustomization")
}

// readArguments takes the image in make's spelling.
func readArguments(args []string, to *string) error {
	for _, argument := range args {
		image, ok := strings.CutPrefix(argument, "IMG=")
		if !ok || image == "" {
			return &report.Error{What: "unexpected argument", Where: argument, Hint: "expected IMG=REFERENCE or flags", Code: usageCode}
		}
		*to = image
	}
	return nil
}

// undeployCommand is `slipway undeploy`.
func (inv *invocation) undeployCommand() *cobra.Command {
	var removal operation.Removal
	folder := ""
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
			return inv.session().Undeploy(cmd.Context(), folder, removal)
		},
	}
	bindRemoval(cmd.Flags(), &removal, operation.DeployTimeout, "for the objects to be gone")
	bindKustomization(cmd.Flags(), &folder)
	return cmd
}

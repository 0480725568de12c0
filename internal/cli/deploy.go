package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
)

const deployHelp = `Deploy applies all objects of config/default, or of the folder that the Makefile's target deploy applies, to the
cluster of the current context: CRDs, roles, the operator's Deployment, and the objects of its features. It first
generates files from the code. It reports the change to each object and waits until the operator runs. If the operator
does not run, deploy reports the cause from the pods, their events and their logs.

The pods of the version before serve until the new pods are ready. Only then does deploy change the storage version of a
CRD with a conversion webhook, and narrow roles. Then it registers webhooks, with failurePolicy Ignore until they
answer. To go back, deploy the version before. Objects that are stored in a version that it lacks are first stored in
one that it has.

Deploy uses server-side apply. A second run changes nothing. Objects from make deploy or kubectl apply are taken
over; a field that another field manager sets differently is a conflict.

An inventory in the cluster (an ApplySet, as kubectl has it) lists the objects of the deployment by kind, name and UID.
Deploy deletes objects that it lists and the configuration no longer has. An object that another tool copied or created
again has another UID: deploy keeps and lists it. It also keeps an object with one of these annotations:

  helm.sh/resource-policy: keep
  client.lifecycle.config.k8s.io/deletion: detach
  kustomize.toolkit.fluxcd.io/prune: disabled

Objects that may hold data need consent: PersistentVolumeClaims and their volumes, StatefulSets that delete their
claims, Secrets, custom resources, CRDs and namespaces. So do objects that kubectl apply created before. Deploy asks for
it. Without a terminal it keeps them, lists them with the commands that delete them, and succeeds. --prune=data deletes
them without a question, as --yes does.

Without a name, --image replaces the image controller, as scaffolded projects call it. Elsewhere name the image that
the containers have, as in --image ghcr.io/team/operator=ghcr.io/team/operator:v2. An image that no container would
run is an error.

In an embedded cluster, deploy restarts workloads whose image was loaded or pushed again under the same name.

With --print it prints the objects as one YAML stream, which installs the operator without the project. --print,
--dry-run and --diff generate in memory and write no file; --no-generate takes the project's files as they are.`

// deployCommand is `slipway deploy`.
func (inv *invocation) deployCommand() *cobra.Command {
	var d delivery.Deployment
	show := false
	cmd := &cobra.Command{
		Use:   "deploy [IMG=REF]",
		Short: "Run the operator in the cluster",
		Long:  deployHelp,
		Example: `  slipway deploy --image registry.example.com/team/operator:v1
  slipway deploy --image registry.example.com/team/operator:v1 --print > dist/install.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := readArguments(args, &d.Image); err != nil {
				return err
			}
			if d.Image != "" || cmd.Flags().Changed("image") { // an empty one is a variable that was not set
				if err := delivery.CheckImage(d.Image); err != nil {
					return err
				}
			}
			if show {
				return done(delivery.PrintDeployment(cmd.Context(), inv.session(), d))
			}
			return done(delivery.Deploy(cmd.Context(), inv.session(), d))
		},
	}
	bindTarget(cmd.Flags(), &d.To, delivery.DeployTimeout, "for the operator to run")
	bindKustomization(cmd.Flags(), &d.Folder)
	cmd.Flags().StringVar(&d.Image, "image", "", "the operator's image, `[NAME=]REFERENCE`; NAME is the image that it replaces, by default controller; default: that of the configuration")
	cmd.Flags().BoolVar(&d.Wait, "wait", true, "wait until all is ready; without it, webhooks and roles change at once")
	cmd.Flags().BoolVar(&show, "print", false, "print the objects as YAML and change no cluster")
	cmd.Flags().BoolVar(&d.Force, "force-conflicts", false, "take over fields that other field managers own")
	bindPrune(cmd.Flags(), &d.Yes)
	bindNoGenerate(cmd.Flags(), &d.NoGenerate)
	bindClusterPreview(cmd.Flags(), &d.Preview)
	return inv.renamed(cmd, "config", "kustomize")
}

// bindKustomization declares the flag that names what is deployed.
func bindKustomization(flags *pflag.FlagSet, folder *string) {
	flags.StringVarP(folder, "kustomize", "k", "", "`folder` of the kustomization (default: the one that the Makefile's target deploy applies, else config/default)")
}

// readArguments takes the image in make's spelling.
func readArguments(args []string, to *string) error {
	for _, argument := range args {
		image, ok := strings.CutPrefix(argument, "IMG=")
		if !ok || image == "" {
			return &report.Error{What: "unexpected argument", Where: argument, Hint: "expected IMG=REFERENCE or flags", Code: report.UsageCode}
		}
		*to = image
	}
	return nil
}

// undeployCommand is `slipway undeploy`.
func (inv *invocation) undeployCommand() *cobra.Command {
	var removal delivery.Removal
	folder := ""
	cmd := &cobra.Command{
		Use:   "undeploy",
		Short: "Remove the operator, its CRDs and their objects from the cluster",
		Long: `Undeploy deletes the objects of deploy from the cluster. It deletes the CRDs first, and with them all objects of
their kinds, while the operator still runs and can remove its finalizers. It returns when all are gone. Objects that
are already gone are not an error.

Undeploy deletes only objects in the deployment's inventory; other objects of the same names stay, and so do objects
with an annotation by which deploy keeps them. It asks before it deletes CRDs with objects other than samples,
and a namespace with other objects. It also asks before it deletes volumes, their claims, and data that left the
configuration. Without a terminal and without --yes it then deletes nothing.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(delivery.Undeploy(cmd.Context(), inv.session(), folder, removal))
		},
	}
	bindRemoval(cmd.Flags(), &removal, delivery.DeployTimeout, "for the objects to be gone")
	bindKustomization(cmd.Flags(), &folder)
	return inv.renamed(cmd, "config", "kustomize")
}

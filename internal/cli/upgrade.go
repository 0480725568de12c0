package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/upgrades"
	"github.com/slipway-dev/slipway/internal/report"
)

// upgradeCommand is `slipway upgrade`.
func (inv *invocation) upgradeCommand() *cobra.Command {
	var u upgrades.Upgrade
	cmd := &cobra.Command{
		Use:   "upgrade {--from REVISION | --from-cluster} [--to REVISION]",
		Short: "Rehearse an upgrade of the operator in a cluster that is thrown away",
		Long: `Upgrade shows what users of the operator would see of an upgrade. It changes no cluster but its own, which it starts
with a real node and removes in the end, and writes nothing in the project.

It deploys the revision in --from with its own configuration. It applies the samples of that revision and the objects
in --objects, and waits until nothing changes any more. Then it deploys the revision in --to, by default the files as
they are, as 'slipway deploy' does. Meanwhile a client reads and writes each object in each served version, a request
every 20 milliseconds. When all is at rest again, upgrade compares all objects with those of before, and notes what
objects of the operator have lost. It writes them in each version, and has the samples created once more. Last it deploys the old revision again: that is the way back.

A REVISION is a branch, a tag or a commit of git, or the path of a released manifest, such as dist/install.yaml.

With --from-cluster the old revision is what deploy has put into the cluster of the current context. Upgrade reads the
objects in the inventory of that deployment, as deploy and users of kubectl have set them, and writes nothing there. It
leaves out values that others have put into Secrets. Images come from the registry of an embedded cluster, else from
this machine, else from the registries in their names.

The report lists refused requests, the time without service, and objects and fields that were lost or changed. It also
lists changed defaults, replaced pods, and changes of CRDs that may break clients. Upgrade fails if users lose data,
service or the way back. A fault that the old revision has too is not reported.`,
		Example: `  slipway upgrade --from v1.2.0
  slipway upgrade --from v1.2.0 --to main --objects test/objects.yaml --junit upgrade.xml
  slipway upgrade --from-cluster --context staging`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oldRevision(cmd, u); err != nil {
				return err
			}
			return done(upgrades.Rehearse(cmd.Context(), inv.session(), u))
		},
	}
	f := cmd.Flags()
	f.StringVar(&u.From, "from", "", "`revision` that users have")
	f.BoolVar(&u.FromCluster, "from-cluster", false, "begin with what deploy has put into a cluster")
	bindContext(f, &u.Deployed.In)
	f.StringVarP(&u.Deployed.Namespace, "namespace", "n", "", "`namespace` of the deployment in that cluster; default: the only one with a deployment")
	f.StringVar(&u.To, "to", "", "`revision` that they are to get; default: the files as they are")
	f.StringArrayVar(&u.Objects, "objects", nil, "`file` with objects of users, besides the samples; repeatable")
	f.StringVarP(&u.Folder, "kustomize", "k", "", "`folder` of the kustomization to deploy; default: the one that the Makefile deploys")
	f.StringArrayVar(&u.Load, "load", nil, "`image` of this machine to load into the cluster, for pods that the operator makes; repeatable")
	f.StringVar(&u.JUnit, "junit", "", "also write the report to this `file`, in JUnit's form")
	bindManager(f, &u.Manager)
	return cmd
}

// oldRevision refuses flags that do not name one old revision.
func oldRevision(cmd *cobra.Command, u upgrades.Upgrade) error {
	switch {
	case u.From != "" && u.FromCluster:
		return &report.Error{What: "two old revisions are named", Where: "--from-cluster", Hint: "use --from or --from-cluster", Next: cmd.CommandPath() + " --from-cluster"}
	case u.FromCluster:
		return nil
	case u.From == "":
		return missingFlag(cmd, "from", "--from v1.2.0")
	}
	for _, name := range []string{"kubeconfig", "context", "namespace"} {
		if cmd.Flags().Changed(name) {
			return &report.Error{What: "the flag has no effect without --from-cluster", Where: "--" + name, Hint: "a rehearsal has a cluster of its own; this flag names the one that has the old revision", Next: cmd.CommandPath() + " --from-cluster"}
		}
	}
	return nil
}

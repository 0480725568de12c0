package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) generateClientsCommand() *cobra.Command {
	var clients operation.Clients
	var dir string
	var externals []string
	cmd := &cobra.Command{
		Use:   "clients",
		Short: "Write typed clientsets, informers and listers for the project's kinds",
		Long: `Clients writes Go packages with which other programs work with the project's kinds as client-go works
with Kubernetes' own: below pkg/generated, laid out as Kubernetes' kube_codegen.sh does it,

  clientset/versioned               a typed clientset, and a fake one for tests
  informers/externalversions        a factory of shared informers
  listers                           listers, which read what informers hold
  applyconfiguration                apply configurations, for server-side apply

A type has a client when the comment above it has the marker +genclient. More of them say what the
client is like:

  +genclient:nonNamespaced          its objects do not live in namespaces
  +genclient:noStatus               no UpdateStatus
  +genclient:noVerbs, readonly      no methods; get, list and watch only
  +genclient:onlyVerbs=get,list     these methods only; skipVerbs leaves some out
  +genclient:method=Scale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
                                    one method more

What clients need of the API package besides and do not find there, SchemeGroupVersion and Resource, is
written to zz_generated.clients.go in that package.

What was asked for is kept in PROJECT, so that slipway generate keeps the clients up to date from then
on. A Go module without PROJECT, with a controller written by hand, has clients too; flags are given each time there. Files of your own in these folders stay; generated ones of kinds that are gone are removed. The code is
written by k8s.io/code-generator, which slipway compiles the first time it is needed.`,
		Example: `  slipway generate clients
  slipway generate clients --group batch --dir pkg/client
  slipway generate clients --plural Fish:Fish`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("dir") {
				clients.Dir = &dir
			}
			for _, e := range externals {
				clients.Externals = append(clients.Externals, strings.Replace(e, ":", "@", 1))
			}
			return inv.session().GenerateClients(cmd.Context(), clients)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", operation.DefaultClientsDir, "`folder` to write to, below the project's; the one of the last time if it is not given")
	flags.StringSliceVar(&clients.Groups, "group", nil, "API `group` to write clients for, by its name or the first part of that; all that have types with +genclient if it is not given")
	flags.StringSliceVar(&clients.Plurals, "plural", nil, "plural that English rules do not give, as `Kind:Plural`")
	flags.StringSliceVar(&clients.Externals, "apply-configuration", nil, "where apply configurations of types of other packages are, as `package.Type@package`")
	flags.StringSliceVar(&externals, "applyconfig-externals", nil, "the same as kube_codegen.sh has it, as `package.Type:package`")
	return cmd
}

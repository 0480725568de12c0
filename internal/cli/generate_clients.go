package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/generation"
)

func (inv *invocation) generateClientsCommand() *cobra.Command {
	var clients generation.Clients
	var dir string
	var externals []string
	cmd := &cobra.Command{
		Use:   "clients",
		Short: "Write typed clientsets, informers and listers for the project's kinds",
		Long: `Clients writes Go packages with which other programs use the project's kinds, as client-go is used for
Kubernetes' own kinds. The packages are below pkg/generated, in the layout of kube_codegen.sh:

  clientset/versioned               a typed clientset, and a fake one for tests
  informers/externalversions        a factory of shared informers
  listers                           listers, which read what informers hold
  applyconfiguration                apply configurations, for server-side apply

A type gets a client if the comment above it has the marker +genclient. More markers change the
client:

  +genclient:nonNamespaced          its objects do not live in namespaces
  +genclient:noStatus               no UpdateStatus
  +genclient:noVerbs, readonly      no methods; get, list and watch only
  +genclient:onlyVerbs=get,list     these methods only; skipVerbs leaves some out
  +genclient:method=Scale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
                                    one more method

Clients need SchemeGroupVersion and Resource in the API package. If they are missing, the command
writes them to zz_generated.clients.go in that package.

The command records its flags in PROJECT, and 'slipway generate' then keeps the clients up to date. It
also works in a Go module without PROJECT, where it needs its flags each time. Your own files in these
folders stay; generated files of kinds that no longer exist are deleted. k8s.io/code-generator writes
the code; slipway compiles it once.`,
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
			return done(generation.GenerateClients(cmd.Context(), inv.session(), clients))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", generation.DefaultClientsDir, "`folder` in the project to write to; default: that of the last run")
	flags.StringSliceVar(&clients.Groups, "group", nil, "API `group` to write clients for, or its first part; default: all groups with +genclient")
	flags.StringSliceVar(&clients.Plurals, "plural", nil, "plural of a kind if English rules give a wrong one, as `Kind:Plural`")
	flags.StringSliceVar(&clients.Externals, "apply-configuration", nil, "package with the apply configuration of a type of another package, as `package.Type@package`")
	flags.StringSliceVar(&externals, "applyconfig-externals", nil, "the same in the form of kube_codegen.sh, as `package.Type:package`")
	return cmd
}

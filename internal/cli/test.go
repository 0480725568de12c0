package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/dev"
)

// testCommand is `slipway test`. It leaves every flag to go test, also those that
// slipway has itself.
func (inv *invocation) testCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [GO TEST ARGS…]",
		Short: "Run go test with a control plane",
		Long: `Test is go test with a control plane: its arguments are those of go test, ./... if they name no
package, and so is its exit status. Generated files are brought up to date first.

Suites written with controller-runtime's envtest find etcd and kube-apiserver through
KUBEBUILDER_ASSETS, which is pointed to the embedded cluster's program under these names. If that program
has not been compiled yet, it is compiled first. If you have set KUBEBUILDER_ASSETS or
USE_EXISTING_CLUSTER, your choice stays.`,
		Example: `  slipway test
  slipway test -count=1 -run TestCronJob ./internal/controller`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
				return cmd.Help()
			}
			root, err := inv.projectRootOrNone()
			if err != nil {
				return err
			}
			return dev.Test(cmd.Context(), inv.devOptions(inv.Dir), root, args, inv.clusters().Assets)
		},
	}
}

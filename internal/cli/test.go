package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

// testCommand is `slipway test`. It leaves every flag to go test, also those that
// slipway has itself, but for a few of its own before them.
func (inv *invocation) testCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [--controllers[=LIST]] [--simulated-pods=HABIT] [--simulated-jobs=HABIT] [--shared] [--dependencies] [GO TEST ARGS…]",
		Short: "Run go test with a control plane",
		Long: `Test is go test with a control plane: its arguments are those of go test, ./... if they name no
package, and so is its exit status. Generated files are brought up to date first.

Suites written with controller-runtime's envtest find etcd and kube-apiserver through
KUBEBUILDER_ASSETS, which is pointed to the embedded cluster's program under these names. If that program
has not been compiled yet, it is compiled first. If you have set KUBEBUILDER_ASSETS or
USE_EXISTING_CLUSTER, your choice stays. Suites written with clustertest find the same program through
SLIPWAY_CLUSTER.

Envtest's control planes have no controllers: owners leave their dependents behind, namespaces stay Terminating, and
Jobs do nothing. Options change that, without a change to the suites. They stand before go test's arguments:

  --controllers   with each control plane run controllers, scheduler and one simulated node.
                  --controllers=gc,namespace runs these two and the few that every cluster needs; see
                  'slipway cluster start --help' for the list. In the environment: SLIPWAY_CONTROLLERS=gc,namespace
  --simulated-pods=pending, --simulated-jobs=running
                  with controllers, keep simulated pods, or those of Jobs, pending or running; a pod's annotations win
  --shared        start one cluster and let all suites use it, instead of a control plane each. They find it through
                  USE_EXISTING_CLUSTER and KUBECONFIG, must not disturb each other, and go test may run several
                  at once: -p 1 forbids that. It has controllers only with --controllers. Suites written with
                  clustertest find its program through SLIPWAY_SHARED_CLUSTER, and each has a cluster of its own in that.
  --dependencies  let each control plane begin with the CRDs of kinds of other modules that the project's Go files use,
                  such as cert-manager's, in the version of go.mod. Each is reported with the file that it comes from.`,
		Example: `  slipway test
  slipway test -count=1 -run TestCronJob ./internal/controller
  slipway test --controllers ./...
  slipway test --controllers=gc,namespace ./...
  slipway test --dependencies ./...`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
				return cmd.Help()
			}
			return inv.session().Test(cmd.Context(), suites(args))
		},
	}
}

// suites takes our own options off the beginning of args.
func suites(args []string) operation.Suites {
	s := operation.Suites{Args: args}
	for len(s.Args) > 0 {
		name, value, given := strings.Cut(s.Args[0], "=")
		switch {
		case name == "--controllers" && given:
			s.Controllers = &value
		case name == "--controllers":
			s.Controllers = new("true")
		case name == "--simulated-pods" && given:
			s.SimulatedPods = value
		case name == "--simulated-jobs" && given:
			s.SimulatedJobs = value
		case s.Args[0] == "--shared":
			s.Shared = true
		case s.Args[0] == "--dependencies":
			s.Dependencies = true
		default:
			return s
		}
		s.Args = s.Args[1:]
	}
	return s
}

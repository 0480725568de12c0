package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/suites"
	"github.com/slipway-dev/slipway/internal/ui"
)

// testCommand is `slipway test`. It leaves every flag to go test, also those that
// slipway has itself, but for a few of its own before them.
func (inv *invocation) testCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test [--controllers[=LIST]] [--simulated-pods=HABIT] [--simulated-jobs=HABIT] [--shared] [--dependencies] [--output json] [GO TEST ARGS…]",
		Short: "Run go test with a control plane",
		Long: `Test runs go test with a control plane. It takes the arguments of go test, by default ./..., and exits with
go test's exit status. It updates generated files first.

Suites that use controller-runtime's envtest find etcd and kube-apiserver through KUBEBUILDER_ASSETS.
Test sets it to a folder with the cluster program under these names, and compiles that program if it is
missing. It respects a KUBEBUILDER_ASSETS or USE_EXISTING_CLUSTER that you have set. Suites that use
clustertest find the same program through SLIPWAY_CLUSTER.

Envtest's control planes have no controllers: dependents of deleted owners stay, namespaces stay Terminating, and
Jobs start no pods. Options before go test's arguments change that, without a change to the suites:

  --controllers   run controllers, the scheduler and one simulated node with each control plane.
                  --controllers=gc,namespace runs these two and the few that every cluster needs; see
                  'slipway cluster start --help' for the list. In the environment: SLIPWAY_CONTROLLERS=gc,namespace
  --simulated-pods=pending, --simulated-jobs=running
                  with controllers, keep simulated pods, or those of Jobs, pending or running; a pod's annotations
                  take precedence
  --shared        start one cluster for all suites, instead of a control plane for each. The suites find it through
                  USE_EXISTING_CLUSTER and KUBECONFIG. They must not disturb each other, since go test may run several
                  at once; -p 1 forbids that. The cluster has controllers only with --controllers. Suites that use
                  clustertest find its program through SLIPWAY_SHARED_CLUSTER; each has its own cluster in it.
  --dependencies  start each control plane with the CRDs of kinds of other modules that the project's Go files use,
                  such as cert-manager's, in the version of go.mod. Test reports the file of each CRD.
  --output json   report the end of each test and package as an event, with its outcome, its duration and, if it
                  failed, its output`,
		Example: `  slipway test
  slipway test -count=1 -run TestCronJob ./internal/controller
  slipway test --controllers ./...
  slipway test --controllers=gc,namespace ./...
  slipway test --dependencies ./...
  slipway test --output json ./...`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
				return cmd.Help()
			}
			s, output := suitesFrom(args)
			if output != "" {
				inv.output = output
				if err := inv.openHandler(); err != nil {
					return err
				}
			}
			s.AsData = inv.output == ui.JSON
			if err := refuseCluster(s.Args); err != nil {
				return err
			}
			return suites.Test(cmd.Context(), inv.session(), s)
		},
	}
}

// suitesFrom takes our own options off the beginning of args.
func suitesFrom(args []string) (s suites.Suites, output string) {
	s.Args = args
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
		case name == "--output" && given:
			output = value
		case name == "--output" && len(s.Args) > 1:
			output, s.Args = s.Args[1], s.Args[1:]
		case s.Args[0] == "--shared":
			s.Shared = true
		case s.Args[0] == "--dependencies":
			s.Dependencies = true
		default:
			return s, output
		}
		s.Args = s.Args[1:]
	}
	return s, output
}

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
)

// clusterInstead hints at how a command is given its cluster, if an unknown flag is how another one is. It reports
// whether it did.
func clusterInstead(cmd *cobra.Command, args []string, flag string, e *report.Error) bool {
	if !slices.Contains([]string{"cluster", "name", "context"}, flag) {
		return false
	}
	context := contextMeant(args, flag)
	switch has := cmd.Flags().Lookup; {
	case has("cluster") != nil && flag == "name":
		e.Hint = "did you mean --cluster?"
	case has("context") != nil:
		e.Hint = "--context names the cluster: the context of the cluster NAME is " + clusters.ClusterContext("NAME")
		e.Next = cmd.CommandPath() + " --context " + context
	case has("kubeconfig") != nil && cmd.Name() == "run":
		e.Hint = "the manager uses the current context of the kubeconfig; that of the cluster NAME is " + clusters.ClusterContext("NAME")
		e.Next = "slipway kubectl config use-context " + context
	default:
		return false
	}
	return true
}

// contextMeant is the context of the cluster that the value of a flag names.
func contextMeant(args []string, flag string) string {
	name := valueOf(args, "--"+flag)
	switch {
	case !plainName().MatchString(name):
		return clusters.ClusterContext("NAME")
	case flag == "context":
		return name
	}
	return clusters.ClusterContext(name)
}

// plainName matches names that a shell takes as they are.
var plainName = lazy.Regexp(`^[\w][\w.-]*$`)

// valueOf is the value of a flag among arguments, or empty.
func valueOf(args []string, flag string) string {
	for i, arg := range args {
		if value, joined := strings.CutPrefix(arg, flag+"="); joined {
			return value
		}
		if arg == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// refuseCluster refuses a flag for the cluster before the arguments of go test, which would take it for one of the test
// program's, and its value for the first argument of that.
func refuseCluster(args []string) error {
	if len(args) == 0 {
		return nil
	}
	flag, _, _ := strings.Cut(args[0], "=")
	if flag != "--cluster" && flag != "--context" {
		return nil
	}
	return &report.Error{What: "slipway test has no flag " + flag, Where: args[0],
		Hint: "suites start control planes of their own; with USE_EXISTING_CLUSTER=true in the environment, those of envtest use " +
			"the current context of the kubeconfig. A flag of your test program stands behind the packages",
		Next: "USE_EXISTING_CLUSTER=true slipway test", Code: report.UsageCode}
}

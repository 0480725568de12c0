package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/proving"
)

// proveCommand is `slipway prove`.
func (inv *invocation) proveCommand() *cobra.Command {
	var p proving.Proof
	cmd := &cobra.Command{
		Use:   "prove [-f SCENARIO]",
		Short: "Find out what the operator does wrong when something fails",
		Long: `Prove runs the operator again and again, each time with one failure, and compares what is there in the end with runs
without a failure. It uses clusters of its own with simulated nodes, and removes them in the end. It writes nothing in
the project but the test of --write-test. It runs the project's code on this machine.

In a project prove builds the manager, installs its CRDs and webhooks, and gives it the rights of its ServiceAccount.
The scenario is what users do with the samples: apply each one, change it, delete it. -f names a file with another
scenario, and --command an operator in any language: {kubeconfig} and {port} in it are replaced. The variable KUBECONFIG
is set.

First prove learns: it runs the scenario four times without a failure. Then each plan commits one failure. It comes at a
write of the operator, at a read that no cache answers, or at a step of the scenario. The process is killed before or
after the write, or at rest, or it does not run during a step. The answer of the write is lost, or is 409, 429, 500 or
504. A watch lags behind, ends, or shows several changes as one. A second process works beside the first one. Two steps
are seen as one event, or a step comes before the operator is at rest. Its webhooks refuse all calls. Only the first
request of a sort in a step meets failures, unless --all is given. A finding counts if a new process, given more
patience, does the same again.

--learned names a file that jobs share which run side by side. The first one writes into it how the operator works
without a failure, and the others read that. It is written anew for another operator or scenario.

A finding says what failed, what is different afterwards, what is probably wrong, and how to see it again: --replay runs
that plan alone and shows each request. With it, --keep leaves the cluster running until Ctrl-C, and --debug runs the
project's manager under Delve. --write-test writes the finding as a Go test into the project. prove/accepted.yaml lists
findings that you have decided to live with, each with its id, a reason, and the day on which it counts again (expires).
--html writes all plans into one file for a browser.

Prove fails if it finds something that is not accepted. It cannot prove an operator that does not come to rest without a
failure. --depth 2 also tries pairs of failures, of which the second one meets what is done about the first.
--time-travel also starts the operator again with caches that show an earlier step, as after a restart that meets an API
server which lags. --seed with --plans takes some of all plans, the same ones each time.`,
		Example: `  slipway prove
  slipway prove -f prove/site.yaml --junit prove.xml --html prove.html
  slipway prove -f site.yaml --command 'python3 operator.py'
  slipway prove --depth 2 --budget 60s
  slipway prove --shard 3/8 --learned learned.json
  slipway prove --replay 35d9d98d --keep`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(proving.Prove(cmd.Context(), inv.session(), p))
		},
	}
	f := cmd.Flags()
	f.StringVarP(&p.Scenario, "scenario", "f", "", "`file` with the scenario; default: the samples are applied, changed and deleted")
	f.StringVar(&p.Command, "command", "", "`command` of an operator in place of the project's manager; {kubeconfig} and {port} are replaced")
	f.StringVar(&p.Replay, "replay", "", "run only the plan with this `ID`, with more patience, and show each request")
	f.BoolVar(&p.Keep, "keep", false, "leave the cluster of a replay running until Ctrl-C, as the plan has left it")
	f.BoolVar(&p.Debug, "debug", false, "run the manager of a replay under Delve, which waits for a debugger")
	f.BoolVar(&p.Test, "write-test", false, "write the finding of a replay as a Go test beside the project's")
	f.BoolVar(&p.All, "all", false, "failures at every request, not only at the first of its sort in a step")
	f.IntVar(&p.Depth, "depth", 1, "`number` of failures in a run: 2 also tries pairs, after all single ones")
	f.BoolVar(&p.TimeTravel, "time-travel", false, "also start the operator again with caches that show an earlier step first")
	f.Int64Var(&p.Seed, "seed", 0, "`number` that draws the order of the plans; 0: those that find most come first")
	f.IntVar(&p.Plans, "plans", 0, "carry out at most this `number` of plans; 0 means all")
	f.StringVar(&p.Shard, "shard", "", "run only share K of N, as `K/N`, for jobs that run side by side")
	f.StringVar(&p.Learned, "learned", "", "`file` of what runs without a failure have shown: read if it is of this operator and scenario, else written")
	f.DurationVar(&p.Budget, "budget", 0, "begin no plan after this `duration`; 0 means no limit")
	f.IntVar(&p.Clusters, "clusters", 2, "`number` of clusters side by side")
	f.StringVar(&p.JUnit, "junit", "", "also write the report to this `file`, in JUnit's form")
	f.StringVar(&p.HTML, "html", "", "also write the report to this `file`, as a page with all plans and their timelines")
	bindManager(f, &p.Manager)
	return cmd
}

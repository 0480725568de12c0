package cli

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
)

// clusterCommand is `slipway cluster`.
func (inv *invocation) clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Start, look at and stop an embedded Kubernetes cluster",
		Long: `An embedded cluster is the stock Kubernetes API server with etcd, the stock controllers and
scheduler, in one process on this machine. Only its nodes are simulated: pods pass
through their phases, and nothing runs in them. It is ready in about a second.

Several clusters can run at once; each has a name, "` + clusterctl.DefaultName + `" unless another is given, and
a context of that name in the kubeconfig: "` + clusterctl.ContextName("NAME") + `".

The program behind it, slipway-cluster, is looked for in SLIPWAY_CLUSTER, beside slipway
and in the cache folder. If it is nowhere, it is compiled once, which takes minutes.

Environment:
  SLIPWAY_CLUSTER   path of the slipway-cluster program
  SLIPWAY_SOURCE    checkout of slipway's sources to compile the program from
  SLIPWAY_CACHE     folder for the compiled program (default: slipway in the user's cache folder)
  SLIPWAY_STATE     folder for the clusters' state (default: ~/.local/state/slipway)
  KUBECONFIG        files that the contexts are entered into (default: ~/.kube/config)`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inv.clusterBuildCommand(), inv.clusterStartCommand(), inv.clusterStopCommand(), inv.clusterStatusCommand(), inv.clusterKubeconfigCommand())
	return cmd
}

// clusters is the facade for this invocation.
func (inv *invocation) clusters() *clusterctl.Control { return clusterctl.New(inv.Getenv, inv.handler) }

// oneName refuses more than one argument.
func oneName(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes the name of one cluster", Where: args[1],
		Next: cmd.CommandPath() + " --help", Code: usageCode}
}

// clusterName is the optional argument of the cluster verbs.
func clusterName(args []string) string { return strings.Join(args, "") }

func (inv *invocation) clusterStartCommand() *cobra.Command {
	var o clusterctl.Options
	cmd := &cobra.Command{
		Use:   "start [NAME]",
		Short: "Start a cluster in the background and select its context",
		Long: `Start starts a cluster in the background, waits until it is ready, enters it into the
kubeconfig and makes it the current context. If the cluster runs already, only its context
is selected again. A cluster that died is started anew.

Data are thrown away when the cluster stops, unless it is started with --durable.`,
		Example: `  slipway cluster start
  slipway cluster start staging --port 6443 --durable`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Name = clusterName(args)
			begin := time.Now()
			s, err := inv.clusters().Start(cmd.Context(), o)
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: started(s, time.Since(begin)), Value: s})
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Port, "port", 0, "`port` of the API server on 127.0.0.1; 0 picks a free one")
	flags.BoolVar(&o.Durable, "durable", false, "keep the cluster's data when it stops or crashes")
	flags.BoolVar(&o.NoContext, "no-context", false, "leave the kubeconfig alone")
	flags.DurationVar(&o.Timeout, "timeout", time.Minute, "how long the cluster may take to become ready")
	return cmd
}

// started says how to go on with a cluster.
func started(s *clusterctl.Status, elapsed time.Duration) string {
	var b strings.Builder
	if s.Already {
		fmt.Fprintf(&b, "cluster %s runs already: Kubernetes %s at %s\n", s.Name, s.Kubernetes, s.Server)
	} else {
		fmt.Fprintf(&b, "cluster %s is ready after %.1fs: Kubernetes %s at %s\n", s.Name, elapsed.Seconds(), s.Kubernetes, s.Server)
	}
	if s.Context != "" {
		fmt.Fprintf(&b, "context %s is selected\n", s.Context)
	} else {
		fmt.Fprintf(&b, "kubeconfig: %s\n", s.Kubeconfig)
	}
	return b.String()
}

func (inv *invocation) clusterStopCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stop [NAME]",
		Short: "Stop a cluster and take its context out of the kubeconfig",
		Long: `Stop stops a cluster, by force if it does not answer, and undoes what start did: the context
leaves the kubeconfig, and the one that was current before is selected again. Data are removed
unless the cluster is durable. What a cluster that died left behind is tidied up.`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := inv.clusters().Stop(cmd.Context(), clusterName(args))
			if err != nil {
				return err
			}
			text := "cluster " + s.Name + " is stopped"
			if s.Already {
				text = "cluster " + s.Name + " was not running"
			}
			inv.handler.Handle(report.Result{Text: text, Value: s})
			return nil
		},
	}
}

func (inv *invocation) clusterStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [NAME]",
		Short: "Tell what a cluster and each of its components is doing",
		Long: `Status tells what a cluster and each of its components is doing. It fails, with status 1, when the
cluster does not run: because it was not started, because it died, or because it does not answer.`,
		Args: oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := inv.clusters().Status(cmd.Context(), clusterName(args))
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: described(s), Value: s})
			return s.Problem()
		},
	}
}

// described tells a running cluster's status in columns; what is wrong with
// another one, its problem tells.
func described(s *clusterctl.Status) string {
	if s.Problem() != nil {
		return ""
	}
	var b strings.Builder
	uptime := (time.Duration(s.UptimeMs) * time.Millisecond).Round(time.Second)
	fmt.Fprintf(&b, "cluster %s is %s, up %s\n", s.Name, s.State, uptime)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range [][2]string{
		{"server", s.Server}, {"kubernetes", s.Kubernetes}, {"kubeconfig", s.Kubeconfig},
		{"context", cmp.Or(s.Context, "none")}, {"process", fmt.Sprint(s.PID)}, {"log", s.Log},
	} {
		if line[1] != "" { // known only once the cluster is ready
			fmt.Fprintf(w, "  %s\t%s\n", line[0], line[1])
		}
	}
	for _, c := range s.Components {
		fmt.Fprintf(w, "  %s\t%s\n", c.Name, strings.TrimSpace(string(c.State)+" "+c.Message))
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

func (inv *invocation) clusterKubeconfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "kubeconfig [NAME]",
		Short:   "Print the kubeconfig of a running cluster",
		Long:    `Kubeconfig prints a kubeconfig that holds a running cluster alone, with its administrator's credentials.`,
		Example: `  slipway cluster kubeconfig > cluster.kubeconfig`,
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, text, err := inv.clusters().Kubeconfig(cmd.Context(), clusterName(args))
			if err != nil {
				return err
			}
			value := struct {
				Path       string `json:"path"`
				Kubeconfig string `json:"kubeconfig"`
			}{path, string(text)}
			inv.handler.Handle(report.Result{Text: string(text), Value: value})
			return nil
		},
	}
}

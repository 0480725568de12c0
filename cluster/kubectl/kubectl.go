// Package kubectl is kubectl: upstream's command with upstream's flags, output, plugins and exit statuses.
//
//	os.Exit(kubectl.Run(os.Args))
//
// It is a program of its own, slipway-kubectl, and not a part of slipway-cluster: its output templates call methods by
// name, and a linker that has seen this once keeps every exported method of every type. In the cluster program that is
// a quarter of its size, and ten milliseconds of each start.
//
// Its upstream counterpart is k8s.io/kubernetes/cmd/kubectl.
package kubectl

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // credentials that kubeconfigs name
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"
	"k8s.io/kubectl/pkg/cmd/util"
)

// The client side limits of discovery that kubectl itself sets: a cluster with hundreds of groups is read in one burst.
const (
	discoveryBurst = 300
	discoveryQPS   = 50
)

// Run is kubectl, plugins on PATH included, with a process's arguments, the program's name first. It returns the exit
// status, or ends the process itself.
func Run(args []string) int {
	// Verbosity counts from the first line on, before flags are parsed. A bad value is reported by the flag.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(args))
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	command := cmd.NewDefaultKubectlCommandWithArgs(cmd.KubectlOptions{
		PluginHandler: cmd.NewDefaultPluginHandler(plugin.ValidPluginFilenamePrefixes),
		Arguments:     args,
		ConfigFlags: genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().
			WithDiscoveryBurst(discoveryBurst).WithDiscoveryQPS(discoveryQPS).WithWarningPrinter(streams),
		IOStreams: streams,
	})
	command.SetArgs(args[1:])
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err) // prints as kubectl does and exits
	}
	return 0
}

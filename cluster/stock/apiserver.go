package stock

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	utilversion "k8s.io/component-base/version"
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/collector"
)

// KubeAPIServer is the API server. The embedded components' version must have been set.
func KubeAPIServer(args []string) int {
	command := app.NewAPIServerCommand
	if !asksForHelp(args) {
		collector.Resume()
		command = newAPIServerCommand
	}
	cmd := command()
	cmd.SetArgs(args[1:])
	return cli.Run(cmd)
}

func asksForHelp(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
}

// newAPIServerCommand is the upstream command (cmd/kube-apiserver/app/server.go, NewAPIServerCommand) without its help,
// and open where that is not: the server can be changed between its assembly and its start.
func newAPIServerCommand() *cobra.Command {
	o := options.NewServerRunOptions()
	cmd := &cobra.Command{
		Use:          "kube-apiserver",
		SilenceUsage: true, // as upstream: an error is not followed by the flags
		Args:         noWords,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			rest.SetDefaultWarningHandler(rest.NoWarnings{})
			return o.GenericServerRunOptions.ComponentGlobalsRegistry.Set()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			return runAPIServer(genericapiserver.SetupSignalContext(), cmd, o)
		},
	}
	cmd.SetFlagErrorFunc(explainFlag)
	sets := o.Flags()
	o.Flagz = flagz.NamedFlagSetsReader{FlagSets: sets}
	verflag.AddFlags(sets.FlagSet("global"))
	globalflag.AddGlobalFlags(sets.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range sets.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	return cmd
}

// noWords refuses arguments that are no flags, in upstream's words.
func noWords(cmd *cobra.Command, args []string) error {
	if slices.ContainsFunc(args, func(a string) bool { return a != "" }) {
		return fmt.Errorf("%q does not take any arguments, got %q", cmd.CommandPath(), args)
	}
	return nil
}

func runAPIServer(ctx context.Context, cmd *cobra.Command, o *options.ServerRunOptions) error {
	registry := o.GenericServerRunOptions.ComponentGlobalsRegistry
	gates := registry.FeatureGateFor(compatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(o.Logs, gates); err != nil {
		return err
	}
	cliflag.PrintFlags(cmd.Flags())
	completed, err := o.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	if mutable, ok := gates.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	registry.AddMetrics()
	klog.Infof("Version: %+v", utilversion.Get())
	klog.InfoS("Golang settings", "GOGC", os.Getenv("GOGC"), "GOMAXPROCS", os.Getenv("GOMAXPROCS"), "GOTRACEBACK", os.Getenv("GOTRACEBACK"))
	if completed.InformerName == nil {
		if completed.InformerName, err = cache.NewInformerName("kube-apiserver"); err != nil {
			return err
		}
	}
	server, err := assemble(completed)
	if err != nil {
		return err
	}
	prepared, err := server.PrepareRun()
	if err != nil {
		return err
	}
	return prepared.Run(ctx)
}

// watchGrace is how long a server that is told to stop waits for clients to end their watches. Upstream's is a minute,
// longer than envtest waits for the server's end, and a watch lasts as long as its client. Other requests that are
// under way are waited for as upstream does.
const watchGrace = 100 * time.Millisecond

// assemble is upstream's assembly with two start-up hooks that do the same as upstream's without sleeping first, custom
// resources that can be used at once, and, on request, definitions and the clients of the server that envtest leaves
// out.
func assemble(o options.CompletedOptions) (*aggregator.APIAggregator, error) {
	wanted, err := wantedControllers()
	if err != nil {
		return nil, err
	}
	definitions, err := wantedDefinitions()
	if err != nil {
		return nil, err
	}
	config, err := app.NewConfig(o)
	if err != nil {
		return nil, err
	}
	// All servers of the chain share this set, and look at it when a hook is added.
	generic := config.KubeAPIs.ControlPlane.Generic
	hooks := promptHooks()
	for _, h := range hooks {
		generic.DisabledPostStartHooks.Insert(h.name)
	}
	apiserver.EaseFirstUse(config)
	completed, err := config.Complete()
	if err != nil {
		return nil, err
	}
	server, err := app.CreateServerChain(completed)
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		generic.DisabledPostStartHooks.Delete(h.name)
		if !generic.MergedResourceConfig.AnyResourceForGroupEnabled(h.group) {
			continue
		}
		if err := server.GenericAPIServer.AddPostStartHook(h.name, h.run); err != nil {
			return nil, err
		}
	}
	server.GenericAPIServer.ShutdownTimeout = watchGrace
	if len(definitions) > 0 {
		if err := server.GenericAPIServer.AddPostStartHook(definitionsHook, startDefinitions(definitions)); err != nil {
			return nil, err
		}
	}
	if wanted != nil {
		return server, server.GenericAPIServer.AddPostStartHook(controllersHook, startControllers(o, wanted))
	}
	return server, nil
}

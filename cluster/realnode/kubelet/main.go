package kubelet

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/version"
)

// Main runs the program with the arguments of its process. It returns an exit status only if the node could not start.
func Main(args []string) int {
	begin := map[string]func() (nodeconfig.Config, *nodeconfig.Requests, error){"run": prepareIsolated, nodeconfig.PlainVerb: beginPlain}
	if len(args) != 2 || begin[args[1]] == nil {
		fmt.Fprintln(os.Stderr, "slipway-node is a node of an embedded cluster; start it with slipway cluster start --nodes real")
		return 2
	}
	config, requests, err := begin[args[1]]()
	if err == nil {
		err = run(context.Background(), config, requests)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "slipway-node: %v\n", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, config nodeconfig.Config, requests *nodeconfig.Requests) error {
	if err := version.Stamp(); err != nil {
		return err
	}
	logTo(os.Stderr, config.Verbosity)
	reportPanics(os.Stderr)
	n := &node{Config: config, requests: requests}
	var err error
	if n.ground, err = groundOf(config); err != nil {
		return err
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates()); err != nil {
		return fmt.Errorf("feature gates: %w", err)
	}
	if n.files, err = writeFiles(n.ground.folders.keys, config); err != nil {
		return err
	}
	if n.client, err = n.newClient(); err != nil {
		return err
	}
	settings, err := n.settings()
	if err != nil {
		return err
	}
	dependencies, err := n.dependencies(ctx, settings)
	if err != nil {
		return err
	}
	if err := kubeletapp.RunKubelet(ctx, settings, dependencies); err != nil {
		return fmt.Errorf("start the kubelet: %w", err)
	}
	<-ctx.Done()
	return nil
}

// gates returns the feature gates that differ from the kubelet's defaults.
func gates() map[string]bool {
	return map[string]bool{
		"KubeletInUserNamespace": true, // tolerates the lack of the host root's rights
		"EventedPLEG":            true, // syncs a pod when one of its containers ends, not up to a second later
		// The runtime measures pods: there is no cAdvisor.
		"PodAndContainerStatsFromCRI": true,
	}
}

func groundOf(c nodeconfig.Config) (*platform, error) {
	if c.Plain != nil {
		return plainPlatform(c), nil
	}
	return isolatedPlatform(c)
}

func logTo(w io.Writer, verbosity int) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "v": strconv.Itoa(verbosity)} {
		if err := flags.Set(name, value); err != nil {
			panic(err) // klog defines these flags
		}
	}
	klog.SetOutput(io.Discard)
	klog.SetOutputBySeverity("INFO", w)
}

// node holds what the parts of the program share.
type node struct {
	nodeconfig.Config
	requests *nodeconfig.Requests
	ground   *platform
	files    files
	client   kubernetes.Interface
}

// newClient returns a client with the node's identity, without rate limits.
func (n *node) newClient() (kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: "https://" + n.Server, QPS: -1, UserAgent: "kubelet/" + n.Kubernetes, Dial: n.ground.dial,
		ContentConfig: rest.ContentConfig{
			ContentType: "application/vnd.kubernetes.protobuf", AcceptContentTypes: "application/vnd.kubernetes.protobuf,application/json",
		},
		TLSClientConfig: rest.TLSClientConfig{CAData: n.Authority, CertData: n.Identity.Certificate, KeyData: n.Identity.Key},
	})
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	return client, nil
}

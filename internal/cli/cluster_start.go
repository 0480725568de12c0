package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

const startLong = `Start starts a cluster in the background, waits until it is ready, enters it into the
kubeconfig and makes it the current context. If the cluster runs already, only its context
is selected again; if it runs with another configuration than is asked for, start says what
differs and changes nothing. A cluster that died is started anew.

Data are thrown away when the cluster stops, unless it is started with --durable. A durable
cluster keeps its data and its configuration: it is started again by its name alone, also by
a later version of Kubernetes. 'slipway cluster delete' removes its data.

What the cluster consists of is said by flags, by a file ('-' is stdin), or by both; flags win.
All keys of the file are optional:

  nodes:                                    # absent: one, simulated-1; []: none
  - name: big
    labels: {disk: ssd}
    taints: [gpu=yes:NoSchedule]
    capacity: {cpu: 16, memory: 64Gi, nvidia.com/gpu: 4}
  apiServer:
    flags: [--event-ttl=3h]                 # of kube-apiserver; none that names a file
  featureGates: {MutatingAdmissionPolicy: true}
  runtimeConfig: {api/all: true}
  port: 6443
  registryPort: 5001                        # of the cluster's image registry
  nodeKind: real                            # or simulated or plain, see below
  simulateMissingImages: true               # beside real nodes
  egress: true                              # pods of real nodes reach the network
  simulatedPods: pending                    # or running, or complete, which is the default
  simulatedJobs: complete                   # the same for the pods of Jobs
  durable: true
  controllers: false                        # API server and etcd only; or a list, see below

A configuration of kind (kind.x-k8s.io) is read, too: nodes with their labels and taints, as real nodes, feature gates,
runtimeConfig and the API server's port. Start reports each part of it that has no effect here.

A node is given to --node as its name, followed by what it has besides the default:

  NAME[,RESOURCE=QUANTITY]...[,label=KEY=VALUE]...[,taint=KEY[=VALUE]:EFFECT]...

Nodes are simulated or real. The pods of real ones are processes with files from images, started by the
stock kubelet and isolated by namespaces of Linux, for root and ordinary users alike (docs/guides/real-nodes.md).
Without a word about nodes there is a simulated one, and when an image is loaded into the cluster a real one
joins it: pods whose images are all in the cluster's registry run for real, others stay simulated. With --nodes simulated,
or with nodes that are named, none joins. With --nodes real, or real=2 for two, all nodes are real, and a pod whose image
cannot be had stays in ImagePullBackOff; --simulate-missing-images adds a simulated node for all pods whose images
are not in the cluster's registry. Where the system has no namespaces or forbids them, the pods of --nodes real are
plain processes of this machine, without isolation, as with --nodes plain; start says so, and what they cannot do.

--egress lets the pods of isolated real nodes reach the network over TCP and look up its names, through the cluster's
process: public and private networks, but never this machine itself or link-local addresses. Without it they reach the
cluster alone. Pods of plain nodes have this machine's network anyway (docs/guides/real-nodes.md).

--controllers takes a list with the names of kube-controller-manager, of which "-controller" may be left out, or their
older short forms: --controllers=gc,namespace. '*' stands for all others and -NAME leaves one out: --controllers='*,-job'.
Scheduler and nodes run with any list, and so do serviceaccount, serviceaccount-token, root-ca-certificate-publisher
and crd-removal. docs/reference/cluster-contents.md lists all controllers.

--simulated-pods=pending keeps all simulated pods Pending, with --simulated-pods=running their containers never end by
themselves, and with complete they live as usual: those that are not restarted on success end after half a second.
--simulated-jobs says the same of the pods of Jobs. A pod's own annotations win (docs/guides/simulated-nodes.md).

With --node the file's nodes do not count. --feature-gate and --runtime-config win over
the file's entry of the same name, and an --api-server-flag over the same flag in the file.`

const startExample = `  slipway cluster start
  slipway cluster start staging --port 6443 --durable
  slipway cluster start --config cluster.yaml
  slipway cluster start --nodes real=2
  slipway cluster start --nodes real --simulate-missing-images
  slipway cluster start --nodes real --egress
  slipway cluster start --node node-1 --node gpu-1,cpu=16,memory=64Gi,label=disk=ssd,taint=gpu=yes:NoSchedule
  slipway cluster start --simulated-jobs=running
  slipway cluster start --controllers=gc,namespace
  slipway cluster start --feature-gate MutatingAdmissionPolicy=true --runtime-config admissionregistration.k8s.io/v1beta1`

func (inv *invocation) clusterStartCommand() *cobra.Command {
	var c operation.Cluster
	var controllers string
	var simulate, egress bool
	cmd := &cobra.Command{
		Use:     "start [NAME]",
		Short:   "Start a cluster in the background and select its context",
		Long:    startLong,
		Example: startExample,
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("controllers") {
				c.Controllers = &controllers
			}
			if cmd.Flags().Changed("simulate-missing-images") {
				c.SimulateMissingImages = &simulate
			}
			if cmd.Flags().Changed("egress") {
				c.Egress = &egress
			}
			var err error
			if c.Name, err = clusterName(cmd, args, c.Name); err != nil {
				return err
			}
			return inv.session().StartCluster(cmd.Context(), c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Name, "cluster", "", "`name` of the cluster, as NAME; default: "+operation.DefaultCluster)
	flags.StringVar(&c.File, "config", "", "`file` that describes the cluster, or - for stdin")
	flags.IntVar(&c.Port, "port", 0, "`port` of the API server on 127.0.0.1; 0 picks a free one")
	flags.IntVar(&c.RegistryPort, "registry-port", 0, fmt.Sprintf("`port` of the image registry on 127.0.0.1; 0 is %d, or a free one if that is taken", operation.RegistryPort))
	flags.BoolVar(&c.Durable, "durable", false, "keep the cluster's data when it stops or crashes")
	flags.StringArrayVar(&c.Nodes, "node", nil, "a `node`, see above; repeatable, or none for no nodes")
	flags.StringVar(&c.NodeKind, "nodes", "", "`kind` of the nodes: simulated, or real, which run pods; real=2 has two; plain has no isolation")
	flags.BoolVar(&simulate, "simulate-missing-images", false, "beside real nodes, simulate pods whose images are not in the cluster's registry")
	flags.BoolVar(&egress, "egress", false, "let the pods of real nodes reach the network, but never this machine itself")
	flags.StringVar(&c.SimulatedPods, "simulated-pods", "", "what becomes of simulated pods whose annotations do not say it: `pending`, running or complete, the default")
	flags.StringVar(&c.SimulatedJobs, "simulated-jobs", "", "the same for the pods of Jobs: `pending`, running or complete")
	flags.StringArrayVar(&c.APIServerFlags, "api-server-flag", nil, "a flag of kube-apiserver, `flag=value`; repeatable")
	flags.StringSliceVar(&c.FeatureGates, "feature-gate", nil, "a feature gate, `name=bool`, of API server, controllers and scheduler; repeatable")
	flags.StringSliceVar(&c.RuntimeConfig, "runtime-config", nil, "an API to serve or not, `version=bool`; repeatable")
	flags.StringVar(&controllers, "controllers", "true", "`which` controllers to run, with scheduler and nodes: true, false for none of these, or a list")
	flags.Lookup("controllers").NoOptDefVal = "true"
	flags.BoolVar(&c.NoContext, "no-context", false, "leave the kubeconfig alone")
	flags.DurationVar(&c.Timeout, "timeout", time.Minute, "how long the cluster may take to become ready")
	return cmd
}

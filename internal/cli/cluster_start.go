package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
)

const startLong = `Start starts a cluster in the background and waits until it is ready. It adds the cluster to the
kubeconfig and makes it the current context. If the cluster runs already, start only selects its
context. If the running cluster has another configuration, start lists the differences
and changes nothing. Start recreates a cluster that died.

A cluster loses its data when it stops, unless it was started with --durable. A durable
cluster keeps its data and its configuration: its name is enough to start it again, also with
a later version of Kubernetes. 'slipway cluster delete' removes its data.

Flags, a file ('-' is stdin) or both describe the cluster; flags take precedence.
All keys of the file are optional:

  nodes:                                    # absent: one, simulated-1; []: none
  - name: big
    labels: {disk: ssd}
    taints: [gpu=yes:NoSchedule]
    capacity: {cpu: 16, memory: 64Gi, nvidia.com/gpu: 4}
  apiServer:
    flags: [--event-ttl=3h]                 # of kube-apiserver, see below
  featureGates: {MutatingAdmissionPolicy: true}
  runtimeConfig: {api/all: true}
  port: 6443
  registryPort: 5001                        # of the cluster's image registry
  nodeKind: real                            # isolated nodes; or simulated
  simulateMissingImages: true               # beside real nodes
  simulatedPods: pending                    # or running, or complete, which is the default
  simulatedJobs: complete                   # the same for the pods of Jobs
  durable: true
  controllers: false                        # API server and etcd only; or a list, see below

A file may come with a repository, so it cannot lower isolation. Only the command line has --nodes plain, --egress,
--host-ports, and the flags of kube-apiserver that name files, addresses or users; docs/reference/cluster.md lists those
that a file may set. If the system forbids isolated nodes, a file with nodeKind: real does not start a cluster.

Start also reads a configuration of kind (kind.x-k8s.io, or kind.sigs.k8s.io in older files). It takes over feature gates, runtimeConfig, the API server's
port and harmless flags, and nodes with their labels and taints, as isolated nodes. It reports each part that has no
effect here.

--node takes the name of a node, followed by what differs from the default:

  NAME[,RESOURCE=QUANTITY]...[,label=KEY=VALUE]...[,taint=KEY[=VALUE]:EFFECT]...

There are three kinds of nodes. A simulated node starts no processes. An isolated node runs containers: the stock kubelet
starts processes with files from images, isolated by Linux namespaces, for root and ordinary users (docs/guides/real-nodes.md).
A plain node runs them as processes of this machine, without isolation.

By default there is one simulated node. When an image is loaded into the cluster, an isolated node joins. It runs pods
whose images are all in the cluster's registry; other pods stay simulated. With --nodes simulated or --node, none joins.

With --nodes real, or real=2 for two, all nodes are isolated, and a pod whose image cannot be pulled stays in
ImagePullBackOff. --simulate-missing-images adds a simulated node for pods whose images are not in the cluster's
registry. If the system lacks or forbids namespaces, --nodes real has plain nodes, as --nodes plain has. Start then
warns and lists the limits.

--egress lets the pods of isolated nodes reach public and private networks over TCP and resolve names, through the
cluster's process. They never reach this machine itself or link-local addresses. By default they reach only the
cluster. Pods of plain nodes always use this machine's network (docs/guides/real-nodes.md).

--host-ports names ports of programs on this machine's loopback, such as 5432,9000. Pods of isolated nodes reach these
through a Service whose EndpointSlice has the address 10.127.255.254, and no other port of this machine.

--controllers takes a list of names of kube-controller-manager, with or without "-controller", or their older short
forms: --controllers=gc,namespace. '*' stands for all others and -NAME leaves one out: --controllers='*,-job'.
The scheduler and the nodes run with any list, and so do serviceaccount, serviceaccount-token,
root-ca-certificate-publisher and crd-removal. docs/reference/cluster-contents.md lists all controllers.

--simulated-pods=pending keeps all simulated pods Pending. With running, their containers never end. With complete, the
default, containers that are not restarted on success end after half a second. --simulated-jobs is the same for the
pods of Jobs. A pod's own annotations take precedence (docs/guides/simulated-nodes.md).

--node replaces the file's nodes. --feature-gate, --runtime-config and --api-server-flag take precedence over
the file's entries of the same name.`

const startExample = `  slipway cluster start
  slipway cluster start staging --port 6443 --durable
  slipway cluster start --config cluster.yaml
  slipway cluster start --nodes real=2
  slipway cluster start --nodes real --simulate-missing-images
  slipway cluster start --nodes real --egress
  slipway cluster start --nodes real --host-ports 5432
  slipway cluster start --node node-1 --node gpu-1,cpu=16,memory=64Gi,label=disk=ssd,taint=gpu=yes:NoSchedule
  slipway cluster start --simulated-jobs=running
  slipway cluster start --controllers=gc,namespace
  slipway cluster start --feature-gate MutatingAdmissionPolicy=true --runtime-config admissionregistration.k8s.io/v1beta1`

func (inv *invocation) clusterStartCommand() *cobra.Command {
	c := clusters.Cluster{Flags: map[string][]string{}}
	cmd := &cobra.Command{
		Use:     "start [NAME]",
		Short:   "Start a cluster in the background and select its context",
		Long:    startLong,
		Example: startExample,
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if c.Name, err = clusterName(cmd, args, c.Name); err != nil {
				return err
			}
			return done(clusters.Start(cmd.Context(), inv.session(), c))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Name, "cluster", "", "`name` of the cluster, as NAME; default: "+clusters.DefaultCluster)
	flags.StringVar(&c.File, "config", "", "`file` that describes the cluster, or - for stdin")
	flags.StringVar(&c.Image, "image", "", "kind's `image` of a node; it has no effect, since the cluster has one version of Kubernetes")
	for _, o := range clusters.Options() {
		bindOption(flags, o, c.Flags)
	}
	flags.BoolVar(&c.NoContext, "no-context", false, "do not change the kubeconfig")
	flags.DurationVar(&c.Timeout, "timeout", time.Minute, "how long to wait for the cluster to be ready")
	return cmd
}

// bindOption declares the flag of an option of a cluster. It keeps the texts in given; clusters.Start checks them.
func bindOption(flags *pflag.FlagSet, o clusters.Option, given map[string][]string) {
	keep := func(text string) error {
		given[o.Flag] = append(given[o.Flag], text)
		return nil
	}
	if !strings.Contains(o.Usage, "`") {
		flags.BoolFunc(o.Flag, o.Usage, keep)
		return
	}
	flags.Func(o.Flag, o.Usage, keep)
	flag := flags.Lookup(o.Flag)
	flag.DefValue, flag.NoOptDefVal = o.Default, o.Default
}

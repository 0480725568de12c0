package clustertest

import (
	"maps"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/protocol"
)

// An Option says how a cluster differs from the usual one, which has all
// controllers, one node, and no kinds but Kubernetes' own. Options add up: of two that
// contradict each other the later one holds.
type Option func(*settings)

// Node describes a simulated node: its name, labels, taints (key=value:Effect) and
// capacity (by resource: "cpu": "8").
type Node struct {
	Name     string
	Labels   map[string]string
	Taints   []string
	Capacity map[string]string
}

// settings are what options make. The zero value is not of use, see [newSettings].
type settings struct {
	spec     protocol.Spec
	crds     []string
	others   *[]string // the groups of Dependencies; nil without it
	webhooks []string
	scheme   *runtime.Scheme
	typed    bool // scheme is the user's: its types tell what converts
	audited  bool
	timeout  time.Duration
}

// readyTime is how long a cluster may take to be ready and prepared: it needs about a
// second, and a busy machine with a cold disk many times that.
const readyTime = 2 * time.Minute

func newSettings(options []Option) settings {
	s := settings{spec: protocol.Spec{NodeKind: protocol.SimulatedNodes}, scheme: scheme.Scheme, timeout: readyTime}
	s.apply(options)
	return s
}

func (s *settings) apply(options []Option) {
	for _, o := range options {
		o(s)
	}
}

// with returns a copy of s to which options are applied.
func (s settings) with(options []Option) settings {
	s.crds, s.webhooks = slices.Clone(s.crds), slices.Clone(s.webhooks)
	s.spec.APIServerFlags = slices.Clone(s.spec.APIServerFlags)
	s.spec.FeatureGates = maps.Clone(s.spec.FeatureGates)
	s.spec.RuntimeConfig = maps.Clone(s.spec.RuntimeConfig)
	s.apply(options)
	return s
}

// installs says whether anything is installed.
func (s settings) installs() bool {
	return len(s.crds)+len(s.webhooks) > 0 || s.others != nil || os.Getenv(definitionsVariable) != ""
}

// CRDs installs the custom resource definitions in the given files and folders, see
// [Cluster.InstallCRDs].
func CRDs(paths ...string) Option {
	return func(s *settings) { s.crds = append(s.crds, paths...) }
}

// Dependencies installs the definitions of the kinds in [Scheme] that are of other modules, such as cert-manager's.
// They are files of these modules, in the version that go.mod requires; with groups only kinds of these groups count.
// Under `slipway test --dependencies` definitions of the kinds that the project uses are there without this option,
// also of modules that have no files but Go types.
func Dependencies(groups ...string) Option {
	return func(s *settings) { s.others = &groups }
}

// Webhooks installs the webhook configurations in the given files and folders, see
// [Cluster.InstallWebhooks].
func Webhooks(paths ...string) Option {
	return func(s *settings) { s.webhooks = append(s.webhooks, paths...) }
}

// Scheme says which Go types there are: [Cluster.Client] uses them, and definitions whose
// types convert to each other (a hub and its spokes) are converted by the webhook server.
// Without it there are Kubernetes' own types.
func Scheme(types *runtime.Scheme) Option {
	return func(s *settings) { s.scheme, s.typed = types, true }
}

// Controllers says whether Kubernetes' controllers, scheduler and nodes run. Without them
// there is no more than envtest has: no namespace is ever gone, no garbage collected and
// no pod started, but no one changes an object behind the test's back either.
func Controllers(run bool) Option {
	return func(s *settings) { s.spec.Controllers, s.spec.ControllerNames = &run, nil }
}

// OnlyControllers has these of Kubernetes' controllers run, with scheduler and nodes. Names are those of
// kube-controller-manager, with or without -controller, or its older short forms: "gc", "namespace". As there, "*"
// stands for all others and a name with - in front is left out. The controllers that give each namespace its service
// account and the root certificate run in any case. Without names all run.
func OnlyControllers(names ...string) Option {
	return func(s *settings) {
		run := true
		s.spec.Controllers, s.spec.ControllerNames = &run, slices.Clone(names)
	}
}

// SimulatedPods says what becomes of simulated pods whose annotations do not say it: "pending", "running", or
// "complete", which is the default: pods run, and those that are not restarted on success end.
func SimulatedPods(habit string) Option { return func(s *settings) { s.spec.SimulatedPods = habit } }

// SimulatedJobs says the same of the pods of Jobs.
func SimulatedJobs(habit string) Option { return func(s *settings) { s.spec.SimulatedJobs = habit } }

// Nodes replaces the usual node by these; none at all leaves pods pending.
func Nodes(nodes ...Node) Option {
	return func(s *settings) {
		s.spec.Nodes = []protocol.Node{}
		for _, n := range nodes {
			s.spec.Nodes = append(s.spec.Nodes, protocol.Node(n))
		}
	}
}

// APIServerFlags gives the API server further flags, each as --flag=value. They are applied last.
func APIServerFlags(flags ...string) Option {
	return func(s *settings) { s.spec.APIServerFlags = append(s.spec.APIServerFlags, flags...) }
}

// FeatureGates switches features of Kubernetes on and off.
func FeatureGates(gates map[string]bool) Option {
	return func(s *settings) { s.spec.FeatureGates = merged(s.spec.FeatureGates, gates) }
}

// RuntimeConfig switches API versions on and off, as the API server's flag does:
// "resource.k8s.io/v1alpha3": "true".
func RuntimeConfig(config map[string]string) Option {
	return func(s *settings) { s.spec.RuntimeConfig = merged(s.spec.RuntimeConfig, config) }
}

// Timeout bounds the time in which the cluster must be ready, two minutes if it is not given. A
// build of the cluster program is not part of it.
func Timeout(d time.Duration) Option {
	return func(s *settings) { s.timeout = d }
}

func merged[V any](into, from map[string]V) map[string]V {
	all := map[string]V{}
	maps.Copy(all, into)
	maps.Copy(all, from)
	return all
}

package clusterctl

import (
	"maps"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/clusterfile"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Options say what cluster to start. The zero value is a good one: the default
// name, a free port, throw-away data, controllers and one node.
//
// A cluster that has kept its data, or that died, is started with what it had before
// wherever Options say nothing, unless Whole is set.
type Options struct {
	Name string // empty: DefaultName
	Port int    // of the API server on 127.0.0.1; 0: a free one
	// RegistryPort is the port of the cluster's image registry on 127.0.0.1; 0: DefaultRegistryPort, if it is free.
	RegistryPort int
	Durable      bool   // keep data over restarts and crashes
	Nodes        []Node // nil: one default node; empty: none
	Kind         Kind   // of the nodes
	// SimulateMissing has a simulated node beside the real ones, for pods whose images are not in the cluster's registry; nil: as it was.
	SimulateMissing *bool

	// NoControllers leaves out controllers, scheduler and nodes, like envtest does.
	// WithControllers has them also where an earlier start left them out.
	NoControllers, WithControllers bool

	FeatureGates   map[string]bool   // name → on
	RuntimeConfig  map[string]string // API group, version or resource → true or false
	APIServerFlags []string          // further --flag=value, applied last

	// Whole says that these options are all there is to the cluster: what an earlier
	// start asked for does not count.
	Whole bool

	nodeProgram string         // what real nodes are; set by [Control.withNodeProgram]
	join        *protocol.Join // what a real node that joins is; set by [Control.withJoin]

	// NoContext leaves the user's kubeconfig alone (Start only; Tie never touches it).
	NoContext bool
	// Socket serves the protocol to other processes as well (Tie only; Start always does).
	Socket bool
	// Timeout bounds the time to readiness, a build of the program not included; 0: one minute.
	Timeout time.Duration
}

// DefaultRegistryPort is where the image registry of a background cluster is, unless that port is taken.
const DefaultRegistryPort = 5001

// Kind is what nodes are made of.
type Kind string

// The kinds of nodes. Simulated ones run no processes; real ones run the kubelet, and containers from images.
const (
	UsualKind      Kind = "" // what the cluster had before, or else a simulated one, which a real one joins once an image was loaded
	SimulatedNodes Kind = "simulated"
	RealNodes      Kind = "real"
	PlainNodes     Kind = "plain" // real ones whose containers are plain processes of this machine
)

// real says whether nodes of the kind run containers.
func (k Kind) real() bool { return k == RealNodes || k == PlainNodes }

// kindOf is the kind of a configuration's nodes.
func kindOf(c protocol.Config) Kind {
	switch {
	case c.NodeProgram != "" && c.PlainNodes:
		return PlainNodes
	case c.NodeProgram != "":
		return RealNodes
	case c.Join != nil:
		return UsualKind
	}
	return SimulatedNodes
}

// keptKind is the kind that a cluster is started with again. Nodes that were named, or left out with the controllers, say nothing of it.
func keptKind(last protocol.Config) Kind {
	if kind := kindOf(last); kind.real() || last.Nodes == nil && (last.Controllers == nil || *last.Controllers) {
		return kind
	}
	return UsualKind
}

// usual says whether nothing was said of the nodes.
func (o Options) usual() bool { return o.Kind == UsualKind && o.Nodes == nil && !o.NoControllers }

// checkKind refuses to simulate what is missing where everything is simulated; kind is that of the nodes.
func (o Options) checkKind(kind Kind) error {
	if o.SimulateMissing == nil || !*o.SimulateMissing || kind.real() {
		return nil
	}
	e := &report.Error{What: "--simulate-missing-images is for real nodes, and there are none", Where: "--simulate-missing-images",
		Hint: "add --nodes real, or leave it out: without a word about nodes a real one joins when an image is loaded, and pods of other images are simulated",
		Next: "slipway cluster start --nodes real --simulate-missing-images", Code: 2}
	if kind == SimulatedNodes {
		e.Hint = "simulated nodes run no images at all; --nodes real has real ones"
	}
	return e
}

// readyTime is how long a cluster may take to become ready: it needs about a
// second, and a busy machine with a cold disk several times that.
const readyTime = time.Minute

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return readyTime
}

func (o Options) check() error {
	if o.Timeout < 0 {
		return &report.Error{What: "a negative timeout", Where: "--timeout", Hint: "a time like 30s or 2m", Code: 2}
	}
	if o.Kind == SimulatedNodes {
		return o.checkKind(o.Kind)
	}
	return nil
}

// FromFile returns the options that a cluster's file asks for.
func FromFile(f clusterfile.File) Options {
	o := Options{Port: f.Port, RegistryPort: f.RegistryPort, Nodes: f.Nodes, FeatureGates: f.FeatureGates, RuntimeConfig: f.RuntimeConfig,
		APIServerFlags: f.APIServerFlags, Whole: true}
	o.Kind, o.SimulateMissing = Kind(f.NodeKind), f.SimulateMissingImages
	if f.Durable != nil {
		o.Durable = *f.Durable
	}
	if f.Controllers != nil {
		o.NoControllers, o.WithControllers = !*f.Controllers, *f.Controllers
	}
	return o
}

// Over returns what o asks for and, where it says nothing, what base does.
// Feature gates and the like add up, and o's win.
func (o Options) Over(base Options) Options {
	if o.Port == 0 {
		o.Port = base.Port
	}
	if o.RegistryPort == 0 {
		o.RegistryPort = base.RegistryPort
	}
	if o.Nodes == nil {
		o.Nodes = base.Nodes
	}
	if o.Kind == UsualKind {
		o.Kind = base.Kind
	}
	if o.SimulateMissing == nil {
		o.SimulateMissing = base.SimulateMissing
	}
	if !o.NoControllers && !o.WithControllers {
		o.NoControllers, o.WithControllers = base.NoControllers, base.WithControllers
	}
	o.Durable = o.Durable || base.Durable
	o.Whole = o.Whole || base.Whole
	o.FeatureGates = merged(base.FeatureGates, o.FeatureGates)
	o.RuntimeConfig = merged(base.RuntimeConfig, o.RuntimeConfig)
	o.APIServerFlags = append(base.APIServerFlags[:len(base.APIServerFlags):len(base.APIServerFlags)], o.APIServerFlags...)
	return o
}

func merged[V any](base, over map[string]V) map[string]V {
	if len(base) == 0 {
		return over
	}
	all := maps.Clone(base)
	maps.Copy(all, over)
	return all
}

// after returns the options for a cluster that was last started with the
// configuration last.
func (o Options) after(last protocol.Config) Options {
	o.Durable = o.Durable || last.Durable
	if o.Whole {
		return o
	}
	base := Options{Port: last.Port, RegistryPort: last.RegistryPort, Nodes: last.Nodes, Kind: keptKind(last), FeatureGates: last.FeatureGates, RuntimeConfig: last.RuntimeConfig,
		NoControllers: last.Controllers != nil && !*last.Controllers}
	if o.Kind != SimulatedNodes && last.NodeProgram != "" {
		base.SimulateMissing = &last.SimulateMissingImages
	}
	if len(o.APIServerFlags) == 0 { // otherwise a repeated command line would have each flag twice
		base.APIServerFlags = last.APIServerFlags
	}
	return o.Over(base)
}

// config returns the program's configuration for a cluster in dir.
func (o Options) config(name, dir, socket string) protocol.Config {
	c := protocol.Config{Protocol: protocol.Number, Name: name, Dir: dir, Socket: socket, Port: o.Port, RegistryPort: o.RegistryPort,
		Durable: o.Durable, Nodes: o.Nodes, NodeProgram: o.nodeProgram, PlainNodes: o.Kind == PlainNodes, Join: o.join, FeatureGates: o.FeatureGates, RuntimeConfig: o.RuntimeConfig,
		APIServerFlags: o.APIServerFlags}
	c.SimulateMissingImages = o.SimulateMissing != nil && *o.SimulateMissing
	if o.NoControllers {
		c.Controllers = new(false)
	}
	return c
}

package clusterctl

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Spec is a cluster as its user asks for it.
type Spec = protocol.Spec

// Options say what cluster to start, and how. The zero value is a good one: a free port, throw-away data, controllers
// and one node, which is simulated.
//
// Where Spec says nothing, File does, and without a file what an earlier start asked for: a cluster
// that has kept its data, or that died, is started with what it had before.
type Options struct {
	Spec
	// File is the cluster's description in a file; nil: there is none. With a file, what an earlier start
	// asked for does not count.
	File *Spec

	// NoContext leaves the user's kubeconfig alone (Start only; Tie never touches it).
	NoContext bool
	// Socket serves the protocol to other processes as well (Tie only; Start always does).
	Socket bool
	// Timeout bounds the time to readiness, a build of the program not included; 0: one minute.
	Timeout time.Duration
}

// DefaultRegistryPort is where the image registry of a background cluster is, unless that port is taken.
const DefaultRegistryPort = 5001

// readyTime is how long a cluster may take to become ready: it needs about a
// second, and a busy machine with a cold disk several times that.
const readyTime = time.Minute

func (o Options) timeout() time.Duration { return cmp.Or(o.Timeout, readyTime) }

// check refuses what no cluster can be.
func (o Options) check() error {
	if o.Timeout < 0 {
		return &report.Error{What: "the timeout is negative", Where: "--timeout", Hint: "use a duration like 30s or 2m", Code: 2}
	}
	if o.NodeKind == protocol.SimulatedNodes {
		return errors.Join(o.checkMissing(o.NodeKind), o.checkEgress(o.Spec))
	}
	return nil
}

// checkEgress refuses ways out for pods where none runs; is describes the cluster's nodes.
func (o Options) checkEgress(is Spec) error {
	if is.NodeKind.RunContainers() || is.Joins() {
		return nil
	}
	const hint = "add --nodes real; or leave out --nodes and --node, so that an isolated node joins when an image is loaded"
	switch {
	case o.Egress != nil && *o.Egress:
		return &report.Error{What: "--egress is for the pods of isolated nodes, but the cluster has none", Where: "--egress", Hint: hint,
			Next: "slipway cluster start --nodes real --egress", Code: 2}
	case len(o.HostPorts) > 0:
		return &report.Error{What: "--host-ports is for the pods of isolated nodes, but the cluster has none", Where: "--host-ports", Hint: hint,
			Next: "slipway cluster start --nodes real --host-ports " + listedPorts(o.HostPorts), Code: 2}
	}
	return nil
}

// listedPorts are ports as the flag has them.
func listedPorts(ports []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ","), "[]")
}

// checkMissing refuses to simulate what is missing where everything is simulated; kind is that of the nodes.
func (o Options) checkMissing(kind protocol.NodeKind) error {
	if o.SimulateMissingImages == nil || !*o.SimulateMissingImages || kind.RunContainers() {
		return nil
	}
	e := &report.Error{What: "--simulate-missing-images is for real nodes, but the cluster has none", Where: "--simulate-missing-images",
		Hint: "add --nodes real, or leave it out: by default an isolated node joins when an image is loaded, and other pods are simulated",
		Next: "slipway cluster start --nodes real --simulate-missing-images", Code: 2}
	if kind == protocol.SimulatedNodes {
		e.Hint = "simulated nodes run no containers; --nodes real adds nodes that do"
	}
	return e
}

// described returns the options with what the file says in their Spec.
func (o Options) described() Options {
	if o.File != nil {
		o.Spec = over(o.Spec, *o.File)
	}
	return o
}

// after returns the options for a cluster that was last asked to be like last.
func (o Options) after(last Spec) Options {
	if o.File != nil {
		o.Durable = o.Durable || last.Durable
		return o
	}
	if o.NodeKind == protocol.SimulatedNodes {
		last.SimulateMissingImages, last.Egress, last.HostPorts = nil, nil, nil
	}
	if len(o.APIServerFlags) > 0 { // otherwise a repeated command line would have each flag twice
		last.APIServerFlags = nil
	}
	o.Spec = over(o.Spec, last)
	return o
}

// over returns the cluster that s describes and, where it says nothing, base does.
// Feature gates and the like add up, and those of s win.
func over(s, base Spec) Spec {
	s.Port, s.RegistryPort = cmp.Or(s.Port, base.Port), cmp.Or(s.RegistryPort, base.RegistryPort)
	s.Durable = s.Durable || base.Durable
	if s.Nodes == nil {
		s.Nodes = base.Nodes
	}
	if s.NodeKind == protocol.DefaultNodes {
		s.NodeKind, s.IsolatedOnly = base.NodeKind, base.IsolatedOnly
	}
	s.SimulateMissingImages = cmp.Or(s.SimulateMissingImages, base.SimulateMissingImages)
	s.Egress = cmp.Or(s.Egress, base.Egress)
	if s.HostPorts == nil {
		s.HostPorts = base.HostPorts
	}
	if s.Controllers == nil {
		s.Controllers, s.ControllerNames = base.Controllers, base.ControllerNames
	}
	s.SimulatedPods, s.SimulatedJobs = cmp.Or(s.SimulatedPods, base.SimulatedPods), cmp.Or(s.SimulatedJobs, base.SimulatedJobs)
	s.FeatureGates = merged(base.FeatureGates, s.FeatureGates)
	s.RuntimeConfig = merged(base.RuntimeConfig, s.RuntimeConfig)
	s.APIServerFlags = append(base.APIServerFlags[:len(base.APIServerFlags):len(base.APIServerFlags)], s.APIServerFlags...)
	return s
}

func merged[V any](base, over map[string]V) map[string]V {
	if len(base) == 0 {
		return over
	}
	all := maps.Clone(base)
	maps.Copy(all, over)
	return all
}

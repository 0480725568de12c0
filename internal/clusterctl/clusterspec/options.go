// Package clusterspec has the options of a cluster. [Options] is their table: a row says what an option is called as a
// flag of `slipway cluster start` and as a key of its file, how both are read, and which part of a [Spec] it is. From
// the type of that part follows how the option merges with a file or an earlier start ([Merge], [Resume]), and when a
// running cluster is another one ([Differences]). A new option is a row, and nothing else in this package;
// docs/inside/add-a-flag.md has the edits in others.
//
// A file may come with a repository, so it lowers no isolation: plain nodes, egress, ports of this machine, and most
// flags of the API server are for the command line alone. A configuration of kind, kind.x-k8s.io, is read as far as an
// embedded cluster has what it says.
//
// All keys are optional. Settings that the file cannot mean are refused with their line, and an unknown key with the
// known one that is nearest. A misspelt key would otherwise be a setting that silently does nothing.
package clusterspec

import (
	"cmp"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// Spec is a cluster as its user asks for it.
type Spec = protocol.Spec

// DefaultRegistryPort is where the image registry of a background cluster is, unless that port is taken.
const DefaultRegistryPort = 5001

// An Option is a choice that users have for a cluster.
type Option struct {
	Flag    string // of `slipway cluster start`
	Usage   string // of the flag; without a `name` of its value it is a switch
	Default string // what help shows, and what the flag means without a value; empty for most

	key               string                              // in the file; empty: the file has none
	flagOnly          string                              // what only the command line may ask for, and no file; see [reader.option]
	unset             func(Spec) string                   // describes a Spec that does not ask for a value; nil: the default
	keepsRunningValue bool                                // an unset value accepts what the cluster has
	needs             need                                // of the nodes
	commas            bool                                // a text of the flag may be several, with commas between them
	beside            func(s Spec, texts []string) error  // refuses texts of the flag beside what the rows above ask for; may be nil
	parse             func(s *Spec, texts []string) error // the texts of the flag, in their order
	merge             func(s *Spec, base Spec)            // what s does not ask for is as in base
	texts             func(s Spec) map[string]string      // what s asks for, by the name of an entry or ""; empty: nothing
	read              func(r *reader, n *yaml.Node, at string, s *Spec)
}

// Options returns the table of all options. An option that needs nodes stands behind those that choose nodes.
func Options() []Option { return slices.Concat(nodeOptions(), podOptions(), serverOptions()) }

func nodeOptions() []Option {
	return []Option{
		row(Option{Flag: "node", key: "nodes", unset: fixed("the default one"), Usage: "a `node`, see above; repeatable, or none for no nodes"},
			at(func(s *Spec) *[]protocol.Node { return &s.Nodes }), list(FormatNode, " "), addNode, (*reader).nodes),
		row(Option{Flag: "nodes", key: "nodeKind", unset: unsetNodes, beside: checkCounted, Usage: "`kind` of the nodes: simulated, real (isolated; real=2 for two) or plain (no isolation)"},
			field[nodeChoice]{nodeChoiceOf, nodeChoice.set}, one(nodeChoice.String), setNodeChoice, (*reader).nodeChoice),
		row(Option{Flag: "controllers", key: "controllers", Default: "true", unset: fixed("true"), Usage: "`which` controllers to run: true for all, false for none and no scheduler or nodes, or a list"},
			field[*Controllers]{controllersOf, (*Controllers).set}, one((*Controllers).String), setControllers, (*reader).controllers),
	}
}

func podOptions() []Option {
	const finished = "complete"
	return []Option{
		row(Option{Flag: "simulate-missing-images", key: "simulateMissingImages", unset: fixed("false"), needs: realNodes(), Usage: "with real nodes, simulate pods whose images are not in the cluster's registry"},
			at(func(s *Spec) **bool { return &s.SimulateMissingImages }), one(pointed[bool]), setSwitch, (*reader).switched),
		row(Option{Flag: "egress", key: "egress", flagOnly: "give pods access to the network", unset: fixed("false"), needs: containerPods(),
			Usage: "let the pods of isolated nodes reach the network, but never this machine"},
			at(func(s *Spec) **bool { return &s.Egress }), one(pointed[bool]), setSwitch, (*reader).switched),
		row(Option{Flag: "host-ports", key: "hostPorts", flagOnly: "give pods access to ports of this machine", unset: fixed(none), needs: containerPods(), commas: true,
			Usage: "`ports` of this machine's loopback that pods of isolated nodes may reach through an EndpointSlice"},
			at(func(s *Spec) *[]int { return &s.HostPorts }), list(plain[int], ","), addHostPort, nil),
		row(Option{Flag: "simulated-pods", key: "simulatedPods", unset: fixed(finished), Usage: "`phase` that simulated pods reach: pending, running or complete (default: complete)"},
			at(func(s *Spec) *string { return &s.SimulatedPods }), one(plain[string]), setHabit, (*reader).habit),
		row(Option{Flag: "simulated-jobs", key: "simulatedJobs", unset: func(s Spec) string { return cmp.Or(s.SimulatedPods, finished) },
			Usage: "`phase` that simulated pods of Jobs reach: pending, running or complete (default: as --simulated-pods)"},
			at(func(s *Spec) *string { return &s.SimulatedJobs }), one(plain[string]), setHabit, (*reader).habit),
	}
}

func serverOptions() []Option {
	return []Option{
		row(Option{Flag: "port", key: "port", keepsRunningValue: true, Usage: "`port` of the API server on 127.0.0.1; 0 picks a free one"},
			at(func(s *Spec) *int { return &s.Port }), one(plain[int]), setPort, (*reader).port),
		row(Option{Flag: "registry-port", key: "registryPort", keepsRunningValue: true, Usage: fmt.Sprintf("`port` of the image registry on 127.0.0.1; 0 picks %d, or a free one if that is taken", DefaultRegistryPort)},
			at(func(s *Spec) *int { return &s.RegistryPort }), one(plain[int]), setPort, (*reader).port),
		row(Option{Flag: "durable", key: "durable", keepsRunningValue: true, unset: fixed("false, so it loses its data when it stops"), Usage: "keep the cluster's data when it stops or crashes"},
			at(func(s *Spec) *bool { return &s.Durable }), one(plain[bool]), setBool, (*reader).boolean),
		row(Option{Flag: "feature-gate", key: "featureGates", commas: true, Usage: "a feature gate, `name=bool`, of API server, controllers and scheduler; repeatable"},
			at(func(s *Spec) *map[string]bool { return &s.FeatureGates }), entries[bool](), addGate, (*reader).bools),
		row(Option{Flag: "runtime-config", key: "runtimeConfig", commas: true, Usage: "an API version to enable or disable, `version=bool`; repeatable"},
			at(func(s *Spec) *map[string]string { return &s.RuntimeConfig }), entries[string](), addRuntime, (*reader).texts),
		row(Option{Flag: "api-server-flag", key: "apiServer", Usage: "a flag of kube-apiserver, `flag=value`; repeatable"},
			at(func(s *Spec) *[]string { return &s.APIServerFlags }), serverFlags(), addFlag, (*reader).apiServer),
	}
}

// fixed is what a value that no one asks for is, whatever else is asked for.
func fixed(text string) func(Spec) string { return func(Spec) string { return text } }

// unsetNodes describes the nodes of a cluster whose user leaves their kind to the program.
func unsetNodes(s Spec) string {
	if s.Joins() {
		return "simulated, and an isolated one joins when an image is loaded"
	}
	return string(protocol.SimulatedNodes)
}

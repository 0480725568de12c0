package clusterfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// Flags are the flags that describe a cluster, as the user gives them. The zero value of a field says nothing.
type Flags struct {
	File           string   // --config: the file's path, or - for stdin
	Port           int      // --port
	RegistryPort   int      // --registry-port
	Durable        bool     // --durable
	Nodes          []string // --node, each as [ParseNode] reads it; none alone for no nodes
	NodeKind       string   // --nodes: the kind, and =COUNT behind it
	APIServerFlags []string // --api-server-flag
	FeatureGates   []string // --feature-gate
	RuntimeConfig  []string // --runtime-config

	Controllers           *string // --controllers, as [ParseControllers] reads it
	SimulateMissingImages *bool   // --simulate-missing-images
	Egress                *bool   // --egress
	HostPorts             []int   // --host-ports
	SimulatedPods         string  // --simulated-pods
	SimulatedJobs         string  // --simulated-jobs
}

// fromStdin is what --config has to be for a description on stdin.
const fromStdin = "-"

// Read returns the cluster that the flags describe, and the one that their file does; nil without a file. A mistake is
// a [report.Error].
func (f Flags) Read(stdin io.Reader) (flags protocol.Spec, file *Description, err error) {
	if flags, err = f.spec(); err != nil || f.File == "" {
		return flags, nil, err
	}
	var said Description
	if f.File == fromStdin {
		said, err = readAll(stdin)
	} else {
		said, err = Read(f.File)
	}
	return flags, &said, err
}

func readAll(stdin io.Reader) (Description, error) {
	text, err := io.ReadAll(stdin)
	if err != nil {
		return Description{}, &report.Error{What: "the cluster's configuration cannot be read", Where: "stdin", Err: err, Code: 2}
	}
	return Parse("stdin", text)
}

func (f Flags) spec() (protocol.Spec, error) {
	s := protocol.Spec{Port: f.Port, RegistryPort: f.RegistryPort, Durable: f.Durable,
		SimulateMissingImages: f.SimulateMissingImages, Egress: f.Egress, HostPorts: f.HostPorts, FeatureGates: map[string]bool{}, RuntimeConfig: map[string]string{}}
	for _, parse := range []func(*protocol.Spec) error{f.hostPorts, f.nodeKind, f.nodes, f.serverFlags, f.gates, f.runtimes, f.controllers, f.habits} {
		if err := parse(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// hostPorts checks the ports of this machine. Only a flag names them: a file may come with a repository.
func (f Flags) hostPorts(*protocol.Spec) error {
	for _, port := range f.HostPorts {
		if port < 1 || port > maxPort {
			return wrong("--host-ports", fmt.Errorf("invalid port %d: use 1 to %d", port, maxPort))
		}
	}
	return nil
}

// maxPort is the largest port.
const maxPort = 65535

// maxCounted is more nodes than users ask for by number.
const maxCounted = 100

// nodeKind reads the kind of the nodes and, behind it, how many there are to be.
func (f Flags) nodeKind(s *protocol.Spec) error {
	kind, count, counted := strings.Cut(f.NodeKind, "=")
	if kind != "" && !slices.Contains(nodeKinds, kind) {
		return wrong("--nodes", fmt.Errorf("unknown kind of nodes %q: use simulated, real or plain", kind))
	}
	s.NodeKind = protocol.NodeKind(kind)
	if !counted {
		return nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxCounted {
		return wrong("--nodes", fmt.Errorf("invalid number of nodes %q: use 1 to %d", count, maxCounted))
	}
	if len(f.Nodes) > 0 {
		return wrong("--nodes", errors.New("--nodes with a number and --node exclude each other"))
	}
	name := "node-%d"
	if s.NodeKind == protocol.SimulatedNodes {
		name = "simulated-%d" // as the cluster itself calls it where no number is given
	}
	for i := range n {
		s.Nodes = append(s.Nodes, protocol.Node{Name: fmt.Sprintf(name, i+1)})
	}
	return nil
}

// noNodes is what --node has to be for a cluster without nodes.
const noNodes = "none"

func (f Flags) nodes(s *protocol.Spec) error {
	if len(f.Nodes) == 0 {
		return nil
	}
	s.Nodes = []protocol.Node{}
	if len(f.Nodes) == 1 && f.Nodes[0] == noNodes {
		return nil
	}
	for _, text := range f.Nodes {
		node, err := ParseNode(text)
		switch {
		case err != nil:
			return wrong("--node", err)
		case node.Name == noNodes:
			return wrong("--node", errors.New(noNodes+" means no nodes and excludes other values"))
		case slices.ContainsFunc(s.Nodes, func(other protocol.Node) bool { return other.Name == node.Name }):
			return wrong("--node", fmt.Errorf("a second node named %s", node.Name))
		}
		s.Nodes = append(s.Nodes, node)
	}
	return nil
}

func (f Flags) serverFlags(s *protocol.Spec) error {
	for _, text := range f.APIServerFlags {
		flag, err := ParseFlag(text)
		if err != nil {
			return wrong("--api-server-flag", err)
		}
		s.APIServerFlags = append(s.APIServerFlags, flag)
	}
	return nil
}

func (f Flags) gates(s *protocol.Spec) error {
	for _, text := range f.FeatureGates {
		name, on, err := ParseGate(text)
		if err != nil {
			return wrong("--feature-gate", err)
		}
		s.FeatureGates[name] = on
	}
	return nil
}

func (f Flags) runtimes(s *protocol.Spec) error {
	for _, text := range f.RuntimeConfig {
		key, value, err := ParseRuntime(text)
		if err != nil {
			return wrong("--runtime-config", err)
		}
		s.RuntimeConfig[key] = value
	}
	return nil
}

func (f Flags) controllers(s *protocol.Spec) error {
	if f.Controllers == nil {
		return nil
	}
	c, err := ParseControllers(*f.Controllers)
	if err != nil {
		return wrong("--controllers", err)
	}
	s.Controllers, s.ControllerNames = &c.Run, c.Names
	return nil
}

func (f Flags) habits(s *protocol.Spec) error {
	for flag, habit := range map[string]string{"--simulated-pods": f.SimulatedPods, "--simulated-jobs": f.SimulatedJobs} {
		if habit == "" {
			continue
		}
		if err := CheckHabit(habit); err != nil {
			return wrong(flag, err)
		}
	}
	s.SimulatedPods, s.SimulatedJobs = f.SimulatedPods, f.SimulatedJobs
	return nil
}

// wrong is a mistake in the value of one flag.
func wrong(flag string, err error) error {
	return &report.Error{What: err.Error(), Where: flag, Hint: Expected(err), Next: "slipway cluster start --help", Code: 2}
}

package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Config is what a cluster is started with.
type Config struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Dir      string `json:"dir"`
	Socket   string `json:"socket,omitempty"` // empty: the protocol is served on no socket
	// NodeProgram is the path at which slipway-node lies, or will lie once it is built. Real and plain nodes need it.
	NodeProgram string `json:"nodeProgram,omitempty"`
	// Registries are those that real nodes may pull from although their addresses are this machine's or private: host
	// or host:port.
	Registries []string `json:"registries,omitempty"`
	// Mirrors are those that real nodes ask in place of registries: by a registry's full name, host or host:port, the
	// mirror's, with the path below which it has that registry's repositories. Nodes may pull from them wherever they
	// are.
	Mirrors map[string]string `json:"mirrors,omitempty"`
	// RecordBytes bounds the record of what happens in the cluster; 0: there is none.
	RecordBytes int64 `json:"recordBytes,omitempty"`
	Spec
}

// Spec is a cluster as its user asks for it. The zero value of a field leaves it to the program.
type Spec struct {
	Port         int      `json:"port,omitempty"`         // of the API server; 0 picks a free one
	RegistryPort int      `json:"registryPort,omitempty"` // of the image registry, if it can be had; 0 picks a free one
	Durable      bool     `json:"durable,omitempty"`      // keep the data
	Nodes        []Node   `json:"nodes,omitzero"`         // nil: one; empty: none
	NodeKind     NodeKind `json:"nodeKind,omitempty"`
	// IsolatedOnly has no plain nodes stand in for real ones where the system forbids isolated ones: the start fails.
	IsolatedOnly bool `json:"isolatedOnly,omitempty"`
	// SimulateMissingImages adds a simulated node to the real ones, for pods whose images are not in the registry; nil:
	// false.
	SimulateMissingImages *bool `json:"simulateMissingImages,omitempty"`
	// Egress lets the pods of isolated real nodes reach the network through the program; nil: false.
	Egress *bool `json:"egress,omitempty"`
	// HostPorts are the TCP and UDP ports of this machine's loopback that an EndpointSlice may lead the pods of
	// isolated real nodes to.
	HostPorts       []int    `json:"hostPorts,omitempty"`
	Controllers     *bool    `json:"controllers,omitempty"`     // run controllers, scheduler and nodes; nil: true
	ControllerNames []string `json:"controllerNames,omitempty"` // those that run, as kube-controller-manager's --controllers; empty: all
	// SimulatedPods is what becomes of simulated pods whose annotations do not say it: pending, running or complete;
	// empty: complete. SimulatedJobs is the same for the pods of Jobs; empty: as SimulatedPods.
	SimulatedPods  string            `json:"simulatedPods,omitempty"`
	SimulatedJobs  string            `json:"simulatedJobs,omitempty"`
	FeatureGates   map[string]bool   `json:"featureGates,omitempty"`
	RuntimeConfig  map[string]string `json:"runtimeConfig,omitempty"` // API group, version or resource → true or false
	APIServerFlags []string          `json:"apiServerFlags,omitempty"`
}

// NodeKind is the kind of the nodes in [Spec.Nodes].
type NodeKind string

// The kinds of nodes. Simulated nodes run no processes; real nodes run the kubelet, and containers from images.
const (
	DefaultNodes   NodeKind = "" // simulated; without a list of nodes a real node joins them, see [Spec.Joins]
	SimulatedNodes NodeKind = "simulated"
	RealNodes      NodeKind = "real"
	PlainNodes     NodeKind = "plain" // real, and the containers are plain processes of this machine
)

// RunContainers reports whether nodes of the kind run containers.
func (k NodeKind) RunContainers() bool { return k == RealNodes || k == PlainNodes }

// Node describes one node.
type Node struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Taints   []string          `json:"taints,omitempty"`   // key=value:Effect
	Capacity map[string]string `json:"capacity,omitempty"` // resource → quantity
}

// RunControllers reports whether controllers, scheduler and nodes run.
func (s Spec) RunControllers() bool { return s.Controllers == nil || *s.Controllers }

// Joins reports whether a real node joins the simulated ones when an image comes: only where the user leaves the nodes
// to the program.
func (s Spec) Joins() bool { return s.NodeKind == DefaultNodes && s.Nodes == nil && s.RunControllers() }

// SimulatesMissing reports whether a simulated node stands beside the real ones.
func (s Spec) SimulatesMissing() bool {
	return s.SimulateMissingImages != nil && *s.SimulateMissingImages
}

// EgressEnabled reports whether pods reach the network through the program.
func (s Spec) EgressEnabled() bool { return s.Egress != nil && *s.Egress }

// ServerFlags are the API server's flags that the configuration asks for, in the
// order in which they apply.
func (s Spec) ServerFlags() []string {
	gates := make([]string, 0, len(s.FeatureGates))
	for name, on := range s.FeatureGates {
		gates = append(gates, fmt.Sprintf("%s=%t", name, on))
	}
	runtime := make([]string, 0, len(s.RuntimeConfig))
	for key, value := range s.RuntimeConfig {
		runtime = append(runtime, key+"="+value)
	}
	return append(append(listFlag("feature-gates", gates), listFlag("runtime-config", runtime)...), s.APIServerFlags...)
}

// listFlag gives the entries an order, so that the same configuration gives the same flag.
func listFlag(name string, entries []string) []string {
	if len(entries) == 0 {
		return nil
	}
	slices.Sort(entries)
	return []string{"--" + name + "=" + strings.Join(entries, ",")}
}

// ErrConfig marks a configuration that cannot be used.
var ErrConfig = errors.New("invalid configuration")

const (
	maxPort = 65535
	// maxSocket is what the systems have in common: macOS takes 104 bytes with the
	// final zero.
	maxSocket = 103
)

// ReadConfig reads and checks a configuration. Unknown keys are ignored: a newer
// partner may send them. Errors are [ErrConfig].
func ReadConfig(r io.Reader) (Config, error) {
	var c Config
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return c, c.validate()
}

func (c Config) validate() error {
	switch {
	case c.Protocol != Number:
		return fmt.Errorf("%w: protocol %d, this program uses %d", ErrConfig, c.Protocol, Number)
	case c.Name == "":
		return fmt.Errorf("%w: no name", ErrConfig)
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("%w: dir %q is not an absolute path", ErrConfig, c.Dir)
	case c.Socket != "" && !filepath.IsAbs(c.Socket):
		return fmt.Errorf("%w: socket %q is not an absolute path", ErrConfig, c.Socket)
	case c.NodeProgram != "" && !filepath.IsAbs(c.NodeProgram):
		return fmt.Errorf("%w: nodeProgram %q is not an absolute path", ErrConfig, c.NodeProgram)
	case len(c.Socket) > maxSocket:
		return fmt.Errorf("%w: socket %q has %d bytes, the limit is %d", ErrConfig, c.Socket, len(c.Socket), maxSocket)
	case c.Port < 0 || c.Port > maxPort:
		return fmt.Errorf("%w: port %d", ErrConfig, c.Port)
	case c.RegistryPort < 0 || c.RegistryPort > maxPort:
		return fmt.Errorf("%w: registryPort %d", ErrConfig, c.RegistryPort)
	case slices.ContainsFunc(c.HostPorts, func(p int) bool { return p < 1 || p > maxPort }):
		return fmt.Errorf("%w: hostPorts %v", ErrConfig, c.HostPorts)
	}
	return errors.Join(c.validateNodes(), c.validateEntries())
}

func (c Config) validateNodes() error {
	switch c.NodeKind {
	case DefaultNodes, SimulatedNodes, RealNodes, PlainNodes:
	default:
		return fmt.Errorf("%w: nodeKind %q", ErrConfig, c.NodeKind)
	}
	switch {
	case c.NodeKind.RunContainers() && c.NodeProgram == "":
		return fmt.Errorf("%w: nodeKind %s without nodeProgram", ErrConfig, c.NodeKind)
	case c.SimulatesMissing() && !c.NodeKind.RunContainers():
		return fmt.Errorf("%w: simulateMissingImages with nodeKind %q: all nodes are simulated", ErrConfig, c.NodeKind)
	case c.NodeKind.RunContainers() || c.Joins():
	case c.EgressEnabled():
		return fmt.Errorf("%w: egress has no effect with nodeKind %q: no isolated node joins, so no pod runs containers", ErrConfig, c.NodeKind)
	case len(c.HostPorts) > 0:
		return fmt.Errorf("%w: hostPorts have no effect with nodeKind %q: no isolated node joins, so no pod runs containers", ErrConfig, c.NodeKind)
	}
	return nil
}

// validateEntries refuses what would be read as another entry of the flag that it becomes.
func (c Config) validateEntries() error {
	const separators = "=,"
	for name := range c.FeatureGates {
		if name == "" || strings.ContainsAny(name, separators) {
			return fmt.Errorf("%w: feature gate %q", ErrConfig, name)
		}
	}
	for key, value := range c.RuntimeConfig {
		if key == "" || strings.ContainsAny(key+value, separators) {
			return fmt.Errorf("%w: runtime configuration %q: %q", ErrConfig, key, value)
		}
	}
	return nil
}

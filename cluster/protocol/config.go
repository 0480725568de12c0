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
	Protocol     int     `json:"protocol"`
	Name         string  `json:"name"`
	Dir          string  `json:"dir"`
	Socket       string  `json:"socket,omitempty"`
	Port         int     `json:"port,omitempty"`         // 0 picks a free one
	RegistryPort int     `json:"registryPort,omitempty"` // if it can be had; 0 picks a free one
	Durable      bool    `json:"durable,omitempty"`
	Nodes        *[]Node `json:"nodes,omitempty"`       // nil means one node, empty none
	NodeProgram  string  `json:"nodeProgram,omitempty"` // the path of slipway-node: nodes are real; empty: they are simulated
	PlainNodes   bool    `json:"plainNodes,omitempty"`  // pods of real nodes are plain processes, also where they could be isolated
	// SimulateMissingImages adds a simulated node to the real ones, for pods whose images are not in the registry.
	SimulateMissingImages bool `json:"simulateMissingImages,omitempty"`
	// Join has a real node join the simulated ones when an image comes into the registry; nil: none does.
	Join *Join `json:"join,omitempty"`
	// Registries are those that real nodes may pull from although their addresses are this machine's or private: host or host:port.
	Registries     []string          `json:"registries,omitempty"`
	Controllers    *bool             `json:"controllers,omitempty"` // nil means true
	FeatureGates   map[string]bool   `json:"featureGates,omitempty"`
	RuntimeConfig  map[string]string `json:"runtimeConfig,omitempty"` // API group, version or resource → true or false
	APIServerFlags []string          `json:"apiServerFlags,omitempty"`
}

// Join says what a real node that joins is made of.
type Join struct {
	Program string `json:"program,omitempty"` // the path at which slipway-node is, or will be once it is built; may be empty
}

// Node describes one node.
type Node struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Taints   []string          `json:"taints,omitempty"`   // key=value:Effect
	Capacity map[string]string `json:"capacity,omitempty"` // resource → quantity
}

// RunControllers says whether controllers, scheduler and nodes run.
func (c Config) RunControllers() bool { return c.Controllers == nil || *c.Controllers }

// ServerFlags are the API server's flags that the configuration asks for, in the
// order in which they apply.
func (c Config) ServerFlags() []string {
	gates := make([]string, 0, len(c.FeatureGates))
	for name, on := range c.FeatureGates {
		gates = append(gates, fmt.Sprintf("%s=%t", name, on))
	}
	runtime := make([]string, 0, len(c.RuntimeConfig))
	for key, value := range c.RuntimeConfig {
		runtime = append(runtime, key+"="+value)
	}
	return append(append(listFlag("feature-gates", gates), listFlag("runtime-config", runtime)...), c.APIServerFlags...)
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
		return fmt.Errorf("%w: protocol %d, this program speaks %d", ErrConfig, c.Protocol, Number)
	case c.Name == "":
		return fmt.Errorf("%w: no name", ErrConfig)
	case !filepath.IsAbs(c.Dir):
		return fmt.Errorf("%w: dir %q is not an absolute path", ErrConfig, c.Dir)
	case c.Socket != "" && !filepath.IsAbs(c.Socket):
		return fmt.Errorf("%w: socket %q is not an absolute path", ErrConfig, c.Socket)
	case c.NodeProgram != "" && !filepath.IsAbs(c.NodeProgram):
		return fmt.Errorf("%w: nodeProgram %q is not an absolute path", ErrConfig, c.NodeProgram)
	case c.SimulateMissingImages && c.NodeProgram == "":
		return fmt.Errorf("%w: simulateMissingImages without nodeProgram: all nodes are simulated", ErrConfig)
	case c.Join != nil && c.NodeProgram != "":
		return fmt.Errorf("%w: join beside nodeProgram: the nodes are real already", ErrConfig)
	case c.Join != nil && c.Join.Program != "" && !filepath.IsAbs(c.Join.Program):
		return fmt.Errorf("%w: join.program %q is not an absolute path", ErrConfig, c.Join.Program)
	case len(c.Socket) > maxSocket:
		return fmt.Errorf("%w: socket %q has %d bytes, a system takes %d", ErrConfig, c.Socket, len(c.Socket), maxSocket)
	case c.Port < 0 || c.Port > maxPort:
		return fmt.Errorf("%w: port %d", ErrConfig, c.Port)
	case c.RegistryPort < 0 || c.RegistryPort > maxPort:
		return fmt.Errorf("%w: registryPort %d", ErrConfig, c.RegistryPort)
	}
	return c.validateEntries()
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

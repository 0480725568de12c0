package state

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// firstKinded is the first protocol whose configurations name the kind of nodes.
const firstKinded = 3

// earlier is what configurations before [firstKinded] said of the kind of nodes, each with a key of its own. Their
// nodeProgram was there for real nodes alone.
type earlier struct {
	PlainNodes bool      `json:"plainNodes"`
	Join       *struct{} `json:"join"` // a real node joined
}

// parseConfig reads a configuration, also one that an earlier version wrote.
func parseConfig(text []byte) (protocol.Config, error) {
	var c struct {
		protocol.Config
		earlier
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return protocol.Config{}, err
	}
	if c.Protocol < firstKinded {
		c.NodeKind = c.kind(c.Config)
		c.Protocol = firstKinded // which it says now, and may be written as
	}
	return c.Config, nil
}

// kind is what the user must have asked for. Nodes that were named, or left out with the controllers, do not tell
// simulated ones from those of no kind: the latter is what gives the same cluster.
func (e earlier) kind(c protocol.Config) protocol.NodeKind {
	switch {
	case c.NodeProgram != "" && e.PlainNodes:
		return protocol.PlainNodes
	case c.NodeProgram != "":
		return protocol.RealNodes
	case e.Join == nil && c.Joins():
		return protocol.SimulatedNodes
	}
	return protocol.DefaultNodes
}

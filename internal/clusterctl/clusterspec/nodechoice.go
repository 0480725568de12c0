package clusterspec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// A nodeChoice is the kind of a cluster's nodes, with what goes with it.
type nodeChoice struct {
	kind         protocol.NodeKind
	isolatedOnly bool
	count        int // of nodes, which get usual names; 0: others say which nodes there are
}

func nodeChoiceOf(s Spec) nodeChoice {
	return nodeChoice{kind: s.NodeKind, isolatedOnly: s.IsolatedOnly}
}

func (c nodeChoice) set(s *Spec) {
	s.NodeKind, s.IsolatedOnly = c.kind, c.isolatedOnly
	name := "node-%d"
	if c.kind == protocol.SimulatedNodes {
		name = "simulated-%d" // as the cluster itself calls it where no number is given
	}
	for i := range c.count {
		s.Nodes = append(s.Nodes, protocol.Node{Name: fmt.Sprintf(name, i+1)})
	}
}

func (c nodeChoice) String() string { return string(c.kind) }

// nodeKinds are the kinds of nodes that a user can name.
var nodeKinds = []string{string(protocol.PlainNodes), string(protocol.RealNodes), string(protocol.SimulatedNodes)}

// maxCounted is more nodes than users ask for by number.
const maxCounted = 100

// setNodeChoice sets the kind of the nodes and, behind it, how many there are to be.
func setNodeChoice(c *nodeChoice, text string) (err error) {
	kind, count, counted := strings.Cut(text, "=")
	*c = nodeChoice{kind: protocol.NodeKind(kind)}
	if kind != "" && !slices.Contains(nodeKinds, kind) {
		return fmt.Errorf("unknown kind of nodes %q: use simulated, real or plain", kind)
	}
	if c.count, err = strconv.Atoi(count); counted && (err != nil || c.count < 1 || c.count > maxCounted) {
		return fmt.Errorf("invalid number of nodes %q: use 1 to %d", count, maxCounted)
	}
	return nil
}

// checkCounted refuses a number of nodes beside named ones.
func checkCounted(s Spec, texts []string) error {
	if s.Nodes != nil && strings.Contains(texts[len(texts)-1], "=") {
		return errors.New("--nodes with a number and --node exclude each other")
	}
	return nil
}

package realnode

import (
	"errors"
	"fmt"
	"sync"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// ErrStopped means that the node is stopped and keeps its images.
var ErrStopped = errors.New("the node is stopped")

// Prune removes superseded images from all nodes, and returns the removed images and the errors by node. A stopped node
// has the error [ErrStopped].
func (n *Nodes) Prune(p nodeconfig.Prune) (map[string][]nodeconfig.PrunedImage, map[string]error) {
	images, errs := map[string][]nodeconfig.PrunedImage{}, map[string]error{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for name, m := range n.members {
		group.Go(func() {
			pruned, err := m.prune(p)
			mu.Lock()
			defer mu.Unlock()
			images[name] = pruned
			if err != nil {
				errs[name] = err
			}
		})
	}
	group.Wait()
	return images, errs
}

func (m *member) prune(p nodeconfig.Prune) ([]nodeconfig.PrunedImage, error) {
	node := m.asked()
	if node == nil {
		return nil, ErrStopped
	}
	pruned, err := node.Prune(p)
	if err != nil {
		return pruned, fmt.Errorf("remove superseded images of node %s: %w", m.spec.Name, err)
	}
	return pruned, nil
}

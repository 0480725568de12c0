package serve

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// nodeSpecs turns a configuration's nodes into those of package node. Errors
// are [protocol.ErrConfig].
func nodeSpecs(nodes *[]protocol.Node) ([]node.Spec, error) {
	if nodes == nil {
		return node.Default(), nil
	}
	specs := make([]node.Spec, 0, len(*nodes))
	for _, n := range *nodes {
		spec, err := nodeSpec(n)
		if err != nil {
			return nil, fmt.Errorf("%w: node %s: %w", protocol.ErrConfig, n.Name, err)
		}
		specs = append(specs, spec)
	}
	if err := node.Validate(specs); err != nil {
		return nil, fmt.Errorf("%w: %w", protocol.ErrConfig, err)
	}
	return specs, nil
}

// realNodes is nil for simulated ones.
func (s *session) realNodes(registry string) *engine.Real {
	if s.config.NodeProgram == "" {
		return nil
	}
	return &engine.Real{Program: s.config.NodeProgram, Registry: registry}
}

func nodeSpec(n protocol.Node) (node.Spec, error) {
	spec := node.Spec{Name: n.Name, Labels: n.Labels, Taints: make([]node.Taint, len(n.Taints))}
	for i, t := range n.Taints {
		if err := spec.Taints[i].UnmarshalText([]byte(t)); err != nil {
			return node.Spec{}, err
		}
	}
	for name, text := range n.Capacity {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return node.Spec{}, fmt.Errorf("capacity of %s: %q: %w", name, text, err)
		}
		if spec.Capacity == nil {
			spec.Capacity = corev1.ResourceList{}
		}
		spec.Capacity[corev1.ResourceName(name)] = quantity
	}
	return spec, nil
}

var errNoNodes = errors.New("the cluster runs no controllers, and so has no nodes")

// withNodes calls f with the nodes of the logical cluster of that name, or of the main one.
func (s *session) withNodes(logical string, f func(workers.Nodes) error) error {
	return s.withHost(func(h *engine.Host) error {
		c, err := h.Cluster(logical)
		if err != nil {
			return err
		}
		if c.Nodes() == nil {
			return errNoNodes
		}
		return f(c.Nodes())
	})
}

package serve

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode"
	"github.com/slipway-dev/slipway/cluster/registry"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// nodeSpecs turns a configuration's nodes into those of package node. Errors
// are [protocol.ErrConfig].
func nodeSpecs(nodes []protocol.Node, kind protocol.NodeKind) ([]node.Spec, error) {
	switch {
	case nodes == nil && kind.RunContainers():
		return node.DefaultReal(), nil
	case nodes == nil:
		return node.Default(), nil
	}
	specs := make([]node.Spec, 0, len(nodes))
	for _, n := range nodes {
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

// mainSpec is the main cluster as the configuration describes it.
func (s *session) mainSpec(images *registry.Registry) (engine.Spec, error) {
	spec := engine.Spec{
		Name: s.config.Name, Port: s.config.Port, Controllers: s.config.RunControllers(), APIServerFlags: s.config.ServerFlags(),
		RecordBytes: s.config.RecordBytes,
	}
	nodes, err := nodeSpecs(s.config.Nodes, s.config.NodeKind)
	if err != nil {
		return spec, err
	}
	if spec.Loops, err = loops(s.config.ControllerNames); err != nil {
		return spec, err
	}
	if spec.Habits, err = habits(s.config.SimulatedPods, s.config.SimulatedJobs); err != nil {
		return spec, err
	}
	real := &engine.Real{Program: s.config.NodeProgram, Reach: realnode.Reach{
		Registry: images.Address(), Registries: s.config.Registries, Mirrors: s.config.Mirrors, Egress: s.config.EgressEnabled(), HostPorts: s.config.HostPorts,
	}}
	switch s.config.NodeKind {
	case protocol.RealNodes, protocol.PlainNodes:
		real.Plain, real.Isolated = s.config.NodeKind == protocol.PlainNodes, s.config.IsolatedOnly
		spec.RealNodes, spec.Real = nodes, real
		if s.config.SimulatesMissing() {
			spec.Nodes = []node.Spec{{Name: engine.FreeName(node.Simulated, nodes)}}
		}
	case protocol.SimulatedNodes:
		spec.Nodes = nodes
	case protocol.DefaultNodes:
		spec.Nodes = nodes
		if s.config.Joins() {
			_, built := s.program()
			real.Joins = built && !images.Empty()
			spec.Real = real
		}
	}
	return spec, nil
}

// loops are the controllers that a configuration names. Errors are [protocol.ErrConfig].
func loops(names []string) ([]controllers.Controller, error) {
	list, err := controllers.Select(names)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", protocol.ErrConfig, err)
	}
	return list, nil
}

// habits are those that a configuration has for simulated pods. Errors are [protocol.ErrConfig].
func habits(pods, jobs string) (stage.Habits, error) {
	h := stage.Habits{Pods: stage.Habit(pods), Jobs: stage.Habit(jobs)}
	if err := h.Validate(); err != nil {
		return h, fmt.Errorf("%w: %w", protocol.ErrConfig, err)
	}
	return h, nil
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

// withNodes calls f with the nodes of the logical cluster of that name, or of the main one.
func (s *session) withNodes(logical string, f func(workers.Nodes) error) error {
	return s.withHost(func(h *engine.Host) error {
		c, err := h.Cluster(logical)
		if err != nil {
			return err
		}
		if c.Nodes() == nil {
			return engine.ErrNoNodes
		}
		return f(c.Nodes())
	})
}

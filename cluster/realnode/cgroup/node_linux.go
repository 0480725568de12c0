package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Node manages the cgroups of one node's containers.
type Node struct {
	tree *Tree

	mu     sync.Mutex
	groups map[string]group // by container
	closed bool
}

// ErrUnknown means that a container has no cgroup.
var ErrUnknown = errors.New("no such cgroup")

// Node returns a manager of cgroups for another node.
func (t *Tree) Node() *Node { return &Node{tree: t, groups: map[string]group{}} }

// Answer does what a node requests.
func (n *Node) Answer(q wire.Group) (wire.Usage, []*os.File, error) {
	switch {
	case q.Make != nil:
		files, err := n.Make(q.Container, *q.Make)
		return wire.Usage{}, files, err
	case q.Update != nil:
		return wire.Usage{}, nil, n.Update(q.Container, *q.Update)
	case q.Remove:
		usage, err := n.Remove(q.Container)
		return usage, nil, err
	}
	usage, err := n.Measure(q.Container)
	return usage, nil, err
}

// Make makes the cgroup of a container, and returns the files by which processes join.
func (n *Node) Make(container string, l wire.Limits) ([]*os.File, error) {
	if container == "" || !filepath.IsLocal(container) || strings.Contains(container, "/") {
		return nil, fmt.Errorf("make a cgroup: %q is no name", container)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.groups[container]; ok || n.closed {
		return nil, fmt.Errorf("make a cgroup: %s: %w", container, fs.ErrExist)
	}
	g := n.tree.group(container)
	if err := g.create(); err != nil {
		return nil, errors.Join(err, g.remove(0))
	}
	files, err := g.limitAndOpen(l)
	if err != nil {
		return nil, errors.Join(err, g.remove(0))
	}
	n.groups[container] = g
	return files, nil
}

func (n *Node) find(container string) (group, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if g, ok := n.groups[container]; ok {
		return g, nil
	}
	return group{}, fmt.Errorf("%w: %s", ErrUnknown, container)
}

// Update changes the limits of a container.
func (n *Node) Update(container string, l wire.Limits) error {
	g, err := n.find(container)
	if err != nil {
		return err
	}
	return g.limit(l)
}

// Measure returns what a container has used so far.
func (n *Node) Measure(container string) (wire.Usage, error) {
	g, err := n.find(container)
	if err != nil {
		return wire.Usage{}, err
	}
	return g.usage(), nil
}

// removePatience bounds the wait for killed processes to end.
const removePatience = 5 * time.Second

// Remove removes the cgroup of an ended container, and returns what the container has used.
func (n *Node) Remove(container string) (wire.Usage, error) {
	g, err := n.find(container)
	if err != nil {
		return wire.Usage{}, err
	}
	n.mu.Lock()
	delete(n.groups, container)
	n.mu.Unlock()
	usage := g.usage()
	return usage, g.remove(removePatience)
}

// Close removes the remaining cgroups of a node that has ended.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	left := slices.Sorted(maps.Keys(n.groups))
	n.mu.Unlock()
	var errs []error
	for _, container := range left {
		_, err := n.Remove(container)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

var (
	// ErrOneKind says that the cluster was started with a kind of nodes.
	ErrOneKind = errors.New("the cluster was started with chosen nodes, and no other node can join")
	// ErrNoNodes says that it has none.
	ErrNoNodes = errors.New("the cluster runs no controllers, and so has no nodes")
)

// Join has a real node join the simulated ones, and returns its name once it is Ready; already says that one had joined
// before. Pods are then placed by their images. Resets leave it where it is.
func (c *Cluster) Join(ctx context.Context, program string) (name string, already bool, err error) {
	switch {
	case !c.spec.Controllers:
		return "", false, ErrNoNodes
	case c.spec.Real == nil || len(c.spec.RealNodes) > 0:
		return "", false, ErrOneKind
	}
	c.resetting.Lock() // a reset would take away what is half there
	defer c.resetting.Unlock()
	f := c.nodes.Load()
	name = FreeName(node.Joined, c.spec.Nodes)
	if f.kinds().Real > 0 {
		return name, true, nil
	}
	if err := c.join(ctx, f, program, name); err != nil {
		return "", false, errors.Join(err, c.unregister(name))
	}
	return name, false, nil
}

func (c *Cluster) join(ctx context.Context, f *fleet, program, name string) error {
	if err := c.startMachine(ctx, program); err != nil {
		return err
	}
	life, cancel := context.WithCancelCause(c.workersLife)
	giveUp := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	real, err := c.runReal(life, program, []node.Spec{{Name: name}}, f.Names(), c.logger(protocol.Nodes))
	if err != nil {
		cancel(nil)
		return err
	}
	if !giveUp() {
		real.Stop()
		return context.Cause(ctx)
	}
	f.join(real)
	return c.adoptNode(ctx, name, real.NameService())
}

// unregister removes the Node of one that did not join, so that no pod waits for it.
func (c *Cluster) unregister(name string) error {
	client, err := kubernetes.NewForConfig(c.loopback())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.workersLife, cleanUp)
	defer cancel()
	err = client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) || ctx.Err() != nil {
		return nil
	}
	return err
}

// FreeName is the first of a kind of names that no node has.
func FreeName(begin string, taken []node.Spec) string {
	for i := 1; ; i++ {
		name := fmt.Sprint(begin, i)
		if !slices.ContainsFunc(taken, func(s node.Spec) bool { return s.Name == name }) {
			return name
		}
	}
}

// adoptNode adds a node that has joined, and what came with it, to the state that resets lead back to.
func (c *Cluster) adoptNode(ctx context.Context, name string, names netip.Addr) error {
	now, err := c.store.Read(ctx, c.prefix+"/")
	if err != nil {
		return &protocol.ComponentError{Component: protocol.Etcd, Err: err}
	}
	var keys []string
	for _, p := range now.Pairs {
		if key := string(p.Key); ofNode(strings.TrimPrefix(key, c.prefix), name, names) {
			keys = append(keys, key)
		}
	}
	c.base.Adopt(keys, now)
	return nil
}

// ofNode says whether a key holds a node, what its kubelet has made, or the Service for names, which comes with the
// first real node.
func ofNode(key, name string, names netip.Addr) bool {
	const service = "kube-system/kube-dns"
	return slices.Contains([]string{
		"/minions/" + name, "/leases/kube-node-lease/" + name, "/csinodes/" + name,
		"/services/specs/" + service, "/services/endpoints/" + service, "/ipaddresses/" + names.String(),
	}, key) || strings.HasPrefix(key, "/endpointslices/"+service+"-")
}

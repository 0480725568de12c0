package realnode

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/node"
)

// newKeeper registers nodes that run again when a user deletes their Nodes. The stock kubelet registers only when it
// starts. Elsewhere a restart of its service brings the Node back, while containers run on; here it need not end.
func (n *Nodes) newKeeper() *node.Keeper {
	return node.NewKeeper(node.KeeperOptions{Client: n.client, Label: node.RealLabel, Fine: n.fine, Repair: n.repair, Log: n.options.Log})
}

// fine says whether the Node is there, or is not to be because the node is lost.
func (n *Nodes) fine(name string, shown *corev1.Node) bool {
	m, ok := n.members[name]
	return !ok || !m.wanted() || shown != nil && shown.Spec.PodCIDR != ""
}

// repair registers a node as it was registered first: labels, taints and a cordon that users gave its Node went with
// that. Its pods run on, if the Node is back before they are given up.
func (n *Nodes) repair(ctx context.Context, name string, shown, last *corev1.Node) error {
	m := n.members[name]
	var reported *corev1.NodeStatus
	if last != nil {
		reported = &last.Status
	}
	object, err := m.register(ctx, n.client, shown, reported)
	if err != nil {
		return err
	}
	n.options.Log.Info("a deleted node has registered again", "node", name)
	if m.plain && len(object.Status.Addresses) == 0 {
		if err := m.publishAddress(ctx); err != nil {
			return err
		}
	}
	if !isReady(object, time.Time{}) {
		return nil // a controller takes the taint off when the kubelet reports
	}
	return m.untaint(ctx)
}

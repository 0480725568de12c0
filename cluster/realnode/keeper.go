package realnode

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/node"
)

// newKeeper returns a keeper that registers running nodes again after a user deleted their Nodes. The stock kubelet
// registers only when it starts. Elsewhere a restart of its service brings the Node back; here that would end the
// containers.
func (n *Nodes) newKeeper() *node.Keeper {
	return node.NewKeeper(node.KeeperOptions{Client: n.client, Label: node.RealLabel, Fine: n.needsNoRepair, Repair: n.repair, Log: n.options.Log})
}

// needsNoRepair reports whether the Node exists and has its pod range, or need not because the node is lost.
func (n *Nodes) needsNoRepair(name string, shown *corev1.Node) bool {
	m, ok := n.members[name]
	return !ok || !m.wanted() || shown != nil && shown.Spec.PodCIDR != ""
}

// repair registers a node with its configured labels and taints: those that users added, and a cordon, are lost with
// the deleted Node. Its pods run on if the Node is back before the garbage collector gives them up.
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
		return nil // a controller removes the taint when the kubelet reports
	}
	return m.untaint(ctx)
}

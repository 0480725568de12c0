package simnode

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/slipway-dev/slipway/cluster/node"
)

// newKeeper repairs what befalls nodes that run: one that was deleted registers again; one that counts as lost, as
// after a suspend of this machine, or whose capacity was changed, reports at once and not with its next heartbeat.
func (n *Nodes) newKeeper() *node.Keeper {
	return node.NewKeeper(node.KeeperOptions{Client: n.client, Label: node.SimulatedLabel, Fine: n.fine, Repair: n.repair, Log: n.log})
}

// repair reports for a node that counts as lost or has other resources, and registers one whose Node is gone.
func (n *Nodes) repair(ctx context.Context, name string, shown, _ *corev1.Node) error {
	m, ok := n.members[name]
	if !ok {
		return nil
	}
	m.turn.Lock()
	defer m.turn.Unlock()
	if !m.runs() {
		return nil
	}
	if shown != nil && shown.UID == m.current().UID {
		return beat(ctx, n.client, name, time.Now())
	}
	if err := n.registerAgain(ctx, m); err != nil {
		return err
	}
	m.end() // the lease has another owner now
	m.begin(n.life, n.client, n.log)
	return nil
}

// fine says whether the Node is as registered and not taken for lost, or meant to be so.
func (n *Nodes) fine(name string, shown *corev1.Node) bool {
	m, ok := n.members[name]
	if !ok || !m.runs() {
		return true
	}
	if shown == nil || shown.UID != m.current().UID {
		return false
	}
	ready := func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}
	return slices.ContainsFunc(shown.Status.Conditions, ready) && apiequality.Semantic.DeepEqual(shown.Status.Allocatable, allocatable(shown.Status))
}

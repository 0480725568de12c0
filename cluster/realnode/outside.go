package realnode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/connlimit"
	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/realnode/dns"
)

// reasonNoWayOut is the reason of the Event on a pod that asks for a name outside the cluster. reasonRefused is for a
// pod that connects to a forbidden address.
const reasonNoWayOut, reasonRefused = "NoWayOut", "EgressRefused"

const (
	// mostAsked is the number of requests that wait until their pods are found. Others are dropped: pods ask again.
	mostAsked = 16
	// mostRemembered bounds the addresses and the pods that are remembered.
	mostRemembered = 1024
	// askAgain is how long no pod is looked for again by the same address. Later the address may be another pod's.
	askAgain = time.Minute
)

// asked is a pod's request for a name or an address outside the cluster, which was refused.
type asked struct {
	by              netip.Addr
	what            string
	reason, message string // of the Event
}

// refusalReporter reports pods whose requests for names or addresses outside the cluster were refused. Each pod gets
// one Event and one line in the log. Pods are untrusted, so the number of requests does not raise the work for them.
type refusalReporter struct {
	nodes *Nodes
	asked chan asked

	seen         map[netip.Addr]time.Time // when the pod of an address was last looked for; only run uses it
	reportedPods map[types.UID]bool       // pods that were reported; only run uses it
}

func (n *Nodes) newOutsiders() *refusalReporter {
	return &refusalReporter{nodes: n, asked: make(chan asked, mostAsked), seen: map[netip.Addr]time.Time{}, reportedPods: map[types.UID]bool{}}
}

// note reports a refused name. It never blocks.
func (o *refusalReporter) note(client net.Addr, name string) {
	o.take(asked{connlimit.Host(client), printable(name), reasonNoWayOut, noWayOutMessage(name)})
}

// noteRefused reports a refused connection. It never blocks.
func (o *refusalReporter) noteRefused(client net.Addr, to netip.AddrPort, why error) {
	o.take(asked{connlimit.Host(client), to.String(), reasonRefused, fmt.Sprintf("The connection to %s is reset: %v.", to, why)})
}

func (o *refusalReporter) take(a asked) {
	select {
	case o.asked <- a:
	default:
	}
}

func (o *refusalReporter) run(ctx context.Context) {
	for {
		select {
		case a := <-o.asked:
			if !o.fresh(a.by, time.Now()) {
				continue
			}
			if err := o.report(ctx, a); err != nil && ctx.Err() == nil {
				o.nodes.options.Log.Debug("connections of a pod to addresses outside the cluster are not reported", "address", a.by, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// fresh reports whether to look for the pod of an address: not if that was done within askAgain.
func (o *refusalReporter) fresh(by netip.Addr, now time.Time) bool {
	if at, ok := o.seen[by]; ok && now.Sub(at) < askAgain {
		return false
	}
	if len(o.seen) >= mostRemembered {
		clear(o.seen)
	}
	o.seen[by] = now
	return true
}

// report creates the Event on the pod with this address, unless the pod was reported before. If several pods have the
// address, it is their node's, and none is reported.
func (o *refusalReporter) report(ctx context.Context, a asked) error {
	pods, err := o.nodes.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("status.podIP", a.by.String()).String(),
	})
	if err != nil || len(pods.Items) != 1 || o.reportedPods[pods.Items[0].UID] {
		return err
	}
	pod := &pods.Items[0]
	_, err = o.nodes.client.CoreV1().Events(pod.Namespace).Create(ctx, warning(pod, a.reason, a.message, metav1.Now()), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if len(o.reportedPods) >= mostRemembered {
		clear(o.reportedPods)
	}
	o.reportedPods[pod.UID] = true
	o.nodes.options.Log.Info("a pod tries to reach an address outside the cluster, which is refused; each pod is reported once",
		"pod", pod.Namespace+"/"+pod.Name, "asked for", a.what, "event", a.message)
	return nil
}

// noWayOutMessage returns the message of the Event for a name outside the cluster.
func noWayOutMessage(name string) string {
	return fmt.Sprintf("The name %s is not found: %s. An EndpointSlice with the address %s leads to a program on this machine, after `slipway cluster start --host-ports PORT`; --egress allows the network.",
		printable(strings.TrimSuffix(name, ".")), dns.NoWay, network.Host)
}

// printable replaces bytes in a name that could control a terminal: pods can ask for any name.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r
		}
		return '?'
	}, name)
}

// warning returns an Event named by the pod and the reason, so that the API server refuses a second one.
func warning(pod *corev1.Pod, reason, message string, at metav1.Time) *corev1.Event {
	sum := sha256.Sum256([]byte(string(pod.UID) + "\x00" + reason))
	const maxName = 200
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name[:min(len(pod.Name), maxName)] + "." + hex.EncodeToString(sum[:8]), Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		},
		Type: corev1.EventTypeWarning, Reason: reason, Message: message,
		Source:         corev1.EventSource{Component: "slipway-nodes", Host: pod.Spec.NodeName},
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

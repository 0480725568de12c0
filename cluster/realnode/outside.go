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

// reasonNoWayOut is that of the Event on a pod that asks for a name outside of the cluster, reasonRefused of that on
// one that connects to an address which pods are not connected to.
const reasonNoWayOut, reasonRefused = "NoWayOut", "EgressRefused"

const (
	// mostAsked is how many questions wait until their pods are found; more are dropped, and come again.
	mostAsked = 16
	// mostRemembered bounds how many addresses and pods are remembered.
	mostRemembered = 1024
	// askAgain is how long an address is taken for the same pod's. Pods come and go, and their addresses come again.
	askAgain = time.Minute
)

// asked is what a pod asked for outside of the cluster, and did not get: a name or, with a way out, an address.
type asked struct {
	by              netip.Addr
	what            string
	reason, message string // of the Event
}

// outsiders reports pods that ask for what is outside of the cluster and do not get it, each once, by an Event on it
// and in the log. Pods are strangers: how often they ask has no influence on how much is done for them.
type outsiders struct {
	nodes *Nodes
	asked chan asked

	seen map[netip.Addr]time.Time // when a pod with the address was looked for; by run alone
	told map[types.UID]bool       // by run alone
}

func (n *Nodes) newOutsiders() *outsiders {
	return &outsiders{nodes: n, asked: make(chan asked, mostAsked), seen: map[netip.Addr]time.Time{}, told: map[types.UID]bool{}}
}

// note takes a question for a name, and never waits.
func (o *outsiders) note(client net.Addr, name string) {
	o.take(asked{connlimit.Host(client), printable(name), reasonNoWayOut, sayNoWayOut(name)})
}

// noteRefused takes a connection that was refused, and never waits.
func (o *outsiders) noteRefused(client net.Addr, to netip.AddrPort, why error) {
	o.take(asked{connlimit.Host(client), to.String(), reasonRefused, fmt.Sprintf("The connection to %s is reset: %v.", to, why)})
}

func (o *outsiders) take(a asked) {
	select {
	case o.asked <- a:
	default:
	}
}

// run reports until ctx ends.
func (o *outsiders) run(ctx context.Context) {
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

// fresh says whether to look for the pod of an address, which it has not for a while.
func (o *outsiders) fresh(by netip.Addr, now time.Time) bool {
	if at, ok := o.seen[by]; ok && now.Sub(at) < askAgain {
		return false
	}
	if len(o.seen) >= mostRemembered {
		clear(o.seen)
	}
	o.seen[by] = now
	return true
}

// report reports the pod with an address, if there is one and it was not reported before. An address that several pods
// share is their node's.
func (o *outsiders) report(ctx context.Context, a asked) error {
	pods, err := o.nodes.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("status.podIP", a.by.String()).String(),
	})
	if err != nil || len(pods.Items) != 1 || o.told[pods.Items[0].UID] {
		return err
	}
	pod := &pods.Items[0]
	_, err = o.nodes.client.CoreV1().Events(pod.Namespace).Create(ctx, warning(pod, a.reason, a.message, metav1.Now()), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if len(o.told) >= mostRemembered {
		clear(o.told)
	}
	o.told[pod.UID] = true
	o.nodes.options.Log.Info("a pod tries to reach an address outside the cluster, which is refused; each pod is reported once",
		"pod", pod.Namespace+"/"+pod.Name, "asked for", a.what, "event", a.message)
	return nil
}

// sayNoWayOut is what the Event on a pod says that asks for a name outside of the cluster.
func sayNoWayOut(name string) string {
	return fmt.Sprintf("The name %s is not found: %s. An EndpointSlice with the address %s leads to a program on this machine, after `slipway cluster start --host-ports PORT`; --egress allows the network.",
		printable(strings.TrimSuffix(name, ".")), dns.NoWay, network.Host)
}

// printable is a name without what a terminal would act on: pods ask for anything.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r
		}
		return '?'
	}, name)
}

// warning is an Event whose name follows from the pod and the reason, so that the API server refuses a second one.
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

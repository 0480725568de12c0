package simnode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

const (
	// ReasonInvalidAnnotation is that of the Event on a pod one of whose annotations is not followed.
	ReasonInvalidAnnotation = "InvalidAnnotation"
	// ReasonSimulated is that of the Event on a pod that says that no process of it runs, and why.
	ReasonSimulated = "Simulated"
)

// allSimulated is why pods are simulated where there are no other nodes.
const allSimulated = "the nodes of this cluster are simulated"

// tellWhy makes an Event of a new pod's being simulated.
func (p *pods) tellWhy(ctx context.Context, key string, pod *corev1.Pod) error {
	if !p.fresh(key) {
		return nil
	}
	why := allSimulated
	if p.why != nil {
		why = p.why(ctx, pod)
	}
	told, err := p.record(ctx, event(pod, corev1.EventTypeNormal, ReasonSimulated, "No process of this pod runs: "+why, time.Now()))
	if told {
		p.grown(key)
	}
	return err
}

func (p *pods) fresh(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lives[key].fresh
}

func (p *pods) grown(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.lives[key]; ok {
		known.fresh = false
		p.lives[key] = known
	}
}

// record makes an Event, unless that was done before this program started or the pod's namespace goes. It says
// whether the Event is there.
func (p *pods) record(ctx context.Context, e *corev1.Event) (bool, error) {
	_, err := p.client.CoreV1().Events(e.Namespace).Create(ctx, e, metav1.CreateOptions{})
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
		return true, nil
	case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return false, nil // nobody is left to read it
	}
	return false, fmt.Errorf("record an Event of reason %s: %w", e.Reason, err)
}

// tell makes an Event of each annotation that is not followed, once for each pod and value.
func (p *pods) tell(ctx context.Context, key string, pod *corev1.Pod, problems []stage.Problem) error {
	for _, problem := range problems {
		if !p.news(key, problem) {
			continue
		}
		told, err := p.record(ctx, event(pod, corev1.EventTypeWarning, ReasonInvalidAnnotation, problem.Error(), time.Now()))
		if !told {
			return err
		}
		p.noted(key, problem)
	}
	return nil
}

// news tells whether the problem has not been told yet.
func (p *pods) news(key string, problem stage.Problem) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.lives[key].told[problem]
}

func (p *pods) noted(key string, problem stage.Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.lives[key]
	if !ok {
		return
	}
	if known.told == nil {
		known.told = map[stage.Problem]bool{}
	}
	known.told[problem] = true
	p.lives[key] = known
}

// maxName leaves room in an Event's name for what makes it unique.
const maxName = 200

// event has a name that follows from what it says, so that the API server refuses to be told twice.
func event(pod *corev1.Pod, kind, reason, message string, now time.Time) *corev1.Event {
	sum := sha256.Sum256([]byte(string(pod.UID) + "\x00" + message))
	at := metav1.NewTime(now)
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name[:min(len(pod.Name), maxName)] + "." + hex.EncodeToString(sum[:8]), Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		},
		Type: kind, Reason: reason, Message: message,
		Source:         corev1.EventSource{Component: "slipway-nodes", Host: pod.Spec.NodeName},
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

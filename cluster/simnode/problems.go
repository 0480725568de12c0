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

// ReasonInvalidAnnotation is that of the Event on a pod one of whose annotations is not followed.
const ReasonInvalidAnnotation = "InvalidAnnotation"

// tell makes an Event of each annotation that is not followed, once for each pod and value.
func (p *pods) tell(ctx context.Context, key string, pod *corev1.Pod, problems []stage.Problem) error {
	for _, problem := range problems {
		if !p.news(key, problem) {
			continue
		}
		_, err := p.client.CoreV1().Events(pod.Namespace).Create(ctx, event(pod, problem, time.Now()), metav1.CreateOptions{})
		switch {
		case err == nil, apierrors.IsAlreadyExists(err): // told before this program started
		case apierrors.IsNotFound(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			return nil // nobody is left to read it
		default:
			return fmt.Errorf("tell what is wrong with an annotation: %w", err)
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
func event(pod *corev1.Pod, problem stage.Problem, now time.Time) *corev1.Event {
	sum := sha256.Sum256([]byte(string(pod.UID) + "\x00" + problem.Error()))
	at := metav1.NewTime(now)
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name[:min(len(pod.Name), maxName)] + "." + hex.EncodeToString(sum[:8]), Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		},
		Type: corev1.EventTypeWarning, Reason: ReasonInvalidAnnotation, Message: problem.Error(),
		Source:         corev1.EventSource{Component: "slipway-nodes", Host: pod.Spec.NodeName},
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

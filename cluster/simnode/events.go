package simnode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // references to containers ask it for the kind of pods
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

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

// Who reports: the simulation about itself, or what it stands for.
const (
	simulation = "slipway-nodes"
	kubelet    = "kubelet"
)

// notice is what is to be reported of a pod.
type notice struct {
	component string
	stage.Event
}

// notices are those of a pod's stage: what became of it, and which annotations are not followed.
func notices(step stage.Step, problems []stage.Problem) []notice {
	var all []notice
	for _, e := range step.Events {
		all = append(all, notice{kubelet, e})
	}
	for _, problem := range problems {
		all = append(all, notice{simulation, stage.Event{Type: corev1.EventTypeWarning, Reason: ReasonInvalidAnnotation, Message: problem.Error()}})
	}
	return all
}

// tellWhy makes an Event of a new pod's being simulated.
func (p *pods) tellWhy(ctx context.Context, key string, pod *corev1.Pod) error {
	if !p.fresh(key) {
		return nil
	}
	why := allSimulated
	if p.why != nil {
		why = p.why(ctx, pod)
	}
	n := notice{simulation, stage.Event{Type: corev1.EventTypeNormal, Reason: ReasonSimulated, Message: "No process of this pod runs: " + why}}
	made, err := p.record(ctx, n.of(pod, time.Now()))
	if made {
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
		return false, nil // no reader is left
	}
	return false, fmt.Errorf("record an Event of reason %s: %w", e.Reason, err)
}

// reportAll makes an Event of each notice, once for each pod.
func (p *pods) reportAll(ctx context.Context, key string, pod *corev1.Pod, notices []notice) error {
	for _, n := range notices {
		if !p.news(key, n) {
			continue
		}
		made, err := p.record(ctx, n.of(pod, time.Now()))
		if !made {
			return err
		}
		p.noted(key, n)
	}
	return nil
}

// news reports whether there is no Event of the notice yet.
func (p *pods) news(key string, n notice) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.lives[key].reported[n]
}

func (p *pods) noted(key string, n notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.lives[key]
	if !ok {
		return
	}
	if known.reported == nil {
		known.reported = map[notice]bool{}
	}
	known.reported[n] = true
	p.lives[key] = known
}

// maxName leaves room in an Event's name for what makes it unique.
const maxName = 200

// of is the notice's Event on a pod. Its name follows from what it says, so that the API server refuses a
// second one.
func (n notice) of(pod *corev1.Pod, now time.Time) *corev1.Event {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(pod.UID), n.Container, n.Reason, n.Message}, "\x00")))
	at := metav1.NewTime(now)
	about := corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}
	if n.Container != "" {
		if ref, err := kubecontainer.GenerateContainerRef(pod, &corev1.Container{Name: n.Container}); err == nil {
			about = *ref
		}
	}
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: pod.Name[:min(len(pod.Name), maxName)] + "." + hex.EncodeToString(sum[:8]), Namespace: pod.Namespace},
		InvolvedObject: about,
		Type:           n.Type, Reason: n.Reason, Message: n.Message,
		Source:              corev1.EventSource{Component: n.component, Host: pod.Spec.NodeName},
		ReportingController: n.component, ReportingInstance: pod.Spec.NodeName,
		FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

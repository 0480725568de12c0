package cri

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// GetContainerEvents reports of what ends, until ctx does.
func (r *Runtime) GetContainerEvents(ctx context.Context, events chan *runtimeapi.ContainerEventResponse, established func(runtimeapi.RuntimeService_GetContainerEventsClient)) error {
	r.mu.Lock()
	r.events = events
	r.mu.Unlock()
	if established != nil {
		established(nil)
	}
	<-ctx.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
	return ctx.Err()
}

// again is when the kubelet is told once more. Each step that it takes with a pod that ends waits for a look that is
// newer than the step before, and nobody but it knows when those are; else there would be one look a second.
func again() []time.Duration {
	return []time.Duration{30 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond}
}

// LookAt has the kubelet look at a pod now, of which it knows that something is about to happen to it.
func (r *Runtime) LookAt(pod types.UID) {
	for _, s := range r.sandboxesOf(pod) {
		r.notify(s, "")
	}
}

func (r *Runtime) sandboxesOf(pod types.UID) []*sandbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*sandbox
	for _, s := range r.sandboxes {
		if s.config.GetMetadata().GetUid() == string(pod) {
			all = append(all, s)
		}
	}
	return all
}

// notify has the kubelet look at a pod now: one of its containers, or all of it, has ended.
func (r *Runtime) notify(s *sandbox, container string) {
	r.notifyOnce(s, container)
	for _, after := range again() {
		time.AfterFunc(after, func() { r.notifyOnce(s, container) })
	}
}

func (r *Runtime) notifyOnce(s *sandbox, container string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.events == nil {
		return
	}
	event := &runtimeapi.ContainerEventResponse{
		ContainerId: container, ContainerEventType: runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT,
		CreatedAt: time.Now().UnixNano(), PodSandboxStatus: r.statusOf(s),
	}
	select {
	case r.events <- event:
	default: // the kubelet is behind; it looks at everything soon
	}
}

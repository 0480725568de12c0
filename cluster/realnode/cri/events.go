package cri

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// GetContainerEvents sends events about ended containers and sandboxes to the channel, until ctx ends.
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

// repeatDelays returns the delays after which an event is repeated. Each step of the kubelet with an ending pod waits
// for a status newer than the step before, and the runtime does not know the steps. Without repeats the next look would
// come after a second.
func repeatDelays() []time.Duration {
	return []time.Duration{30 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond}
}

// LookAt makes the kubelet look at a pod now. The kubelet calls it for a pod that is about to change.
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

// notify makes the kubelet look at a pod whose container, or sandbox if container is empty, has ended.
func (r *Runtime) notify(s *sandbox, container string) {
	r.notifyOnce(s, container)
	for _, after := range repeatDelays() {
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
	default: // the kubelet lags; its periodic relist sees the change
	}
}

package cri

import (
	"context"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// GetContainerEvents tells of what ends, until ctx does.
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

// tell has the kubelet look at a pod now and not at the next second: one of its containers, or all of it, has ended.
func (r *Runtime) tell(s *sandbox, container string) {
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

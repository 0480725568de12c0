package cri

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
	"github.com/slipway-dev/slipway/cluster/realnode/process"
	"github.com/slipway-dev/slipway/cluster/realnode/removetree"
)

// container is a container of a sandbox. Runtime.mu guards the fields that change.
type container struct {
	id       string
	sandbox  *sandbox
	config   *runtimeapi.ContainerConfig
	image    imagestore.Image
	prepared Prepared
	dir      string
	log      *logFile
	created  time.Time

	meter             process.Meter
	resources         *runtimeapi.LinuxContainerResources // as last updated
	run               *run                                // nil until it starts
	state             runtimeapi.ContainerState
	started, finished time.Time
	exit              int32
	reason, message   string
}

// CreateContainer prepares a container, and refuses unsupported settings with the reason.
func (r *Runtime) CreateContainer(_ context.Context, sandboxID string, config *runtimeapi.ContainerConfig, _ *runtimeapi.PodSandboxConfig) (string, error) {
	s, err := r.sandbox(sandboxID)
	if err != nil {
		return "", err
	}
	security := config.GetLinux().GetSecurityContext()
	if err := errors.Join(refuse(security.GetNamespaceOptions()), refuseSecurity(security), refuseDevices(config)); err != nil {
		return "", err
	}
	img, err := r.options.Images.Get(config.GetImage().GetImage())
	if err != nil {
		return "", err
	}
	c := &container{id: newID(), sandbox: s, config: config, image: img, created: time.Now(), resources: config.GetLinux().GetResources()}
	c.dir = filepath.Join(r.options.Dir, containersFolder, c.id[:shortID])
	c.log = newLog(s.config.GetLogDirectory(), config.GetLogPath())
	description, err := r.describe(c)
	if err != nil {
		return "", err
	}
	if c.prepared, err = r.options.Starter.Prepare(description); err != nil {
		return "", errors.Join(err, os.RemoveAll(c.dir))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.containers[c.id] = c
	return c.id, nil
}

// Uses reports whether a container, which may have ended, has the image with this ID as its root or as a volume.
func (r *Runtime) Uses(image string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		volume := func(m *runtimeapi.Mount) bool { return m.GetImage().GetImage() == image }
		if c.image.ID == image || slices.ContainsFunc(c.config.GetMounts(), volume) {
			return true
		}
	}
	return false
}

func (r *Runtime) container(id string) (*container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.containers[id]; ok {
		return c, nil
	}
	return nil, unknown("container", id)
}

// running returns a running container and its process.
func (r *Runtime) running(id string) (*container, *run, error) {
	c, err := r.container(id)
	if err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.run == nil || c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, nil, fmt.Errorf("container %s is not running", c.config.GetMetadata().GetName())
	}
	return c, c.run, nil
}

// StartContainer starts a created container. It returns when the program runs, or with the reason why it does not.
func (r *Runtime) StartContainer(_ context.Context, id string) error {
	c, err := r.container(id)
	if err != nil {
		return err
	}
	run, err := r.start(c)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		c.state, c.finished, c.exit = runtimeapi.ContainerState_CONTAINER_EXITED, time.Now(), statusNotStarted
		c.reason, c.message = "StartError", err.Error()
		return err
	}
	r.mu.Lock()
	c.run, c.state, c.started = run, runtimeapi.ContainerState_CONTAINER_RUNNING, time.Now()
	r.mu.Unlock()
	go r.await(c, run)
	return nil
}

// statusNotStarted is the exit status of a container that could not start, as in containerd (errorStartExitCode).
const statusNotStarted = 128

// await records a container's end, and reports it to the kubelet.
func (r *Runtime) await(c *container, run *run) {
	status := run.wait()
	r.mu.Lock()
	c.state, c.finished, c.reason = runtimeapi.ContainerState_CONTAINER_EXITED, time.Now(), "Completed"
	if c.exit = int32(status); c.exit != 0 {
		c.reason = "Error"
	}
	if run.outOfMemory() {
		c.reason = "OOMKilled"
	}
	r.mu.Unlock()
	close(run.ended)
	r.notify(c.sandbox, c.id)
}

// StopContainer sends the stop signal to a container, and kills it after timeout seconds. An unknown container is no
// error.
func (r *Runtime) StopContainer(ctx context.Context, id string, timeout int64) error {
	c, err := r.container(id)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	run := c.run
	r.mu.Unlock()
	if run == nil {
		return nil
	}
	if timeout > 0 {
		run.Signal(c.stopSignal())
		timer := time.NewTimer(time.Duration(timeout) * time.Second)
		defer timer.Stop()
		select {
		case <-run.ended:
			return nil
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	run.Signal(syscall.SIGKILL)
	select {
	case <-run.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// RemoveContainer kills a container and removes its files. Its log belongs to the kubelet.
func (r *Runtime) RemoveContainer(ctx context.Context, id string) error {
	c, err := r.container(id)
	if err != nil {
		return nil
	}
	if err := r.StopContainer(ctx, id, 0); err != nil {
		return err
	}
	r.mu.Lock()
	delete(r.containers, id)
	r.mu.Unlock()
	if err := removetree.All(c.dir); err != nil {
		return fmt.Errorf("remove the container's files: %w", err)
	}
	return nil
}

// ListContainers returns the containers that match the filter, newest first.
func (r *Runtime) ListContainers(_ context.Context, f *runtimeapi.ContainerFilter) ([]*runtimeapi.Container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*runtimeapi.Container
	for _, c := range r.containers {
		if !passes(f.GetId(), c.id) || !passes(f.GetPodSandboxId(), c.sandbox.id) ||
			f.GetState() != nil && f.GetState().GetState() != c.state || !hasLabels(c.config.GetLabels(), f.GetLabelSelector()) {
			continue
		}
		list = append(list, &runtimeapi.Container{
			Id: c.id, PodSandboxId: c.sandbox.id, Metadata: c.config.GetMetadata(), Image: c.config.GetImage(), ImageRef: c.imageRef(), ImageId: c.image.ID,
			State: c.state, CreatedAt: c.created.UnixNano(), Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(),
		})
	}
	slices.SortFunc(list, func(a, b *runtimeapi.Container) int { return int(b.CreatedAt - a.CreatedAt) })
	return list, nil
}

// name returns the image's name in the pod.
func (c *container) name() string {
	return cmp.Or(c.config.GetImage().GetUserSpecifiedImage(), c.config.GetImage().GetImage())
}

// imageRef returns the imageID in the pod's status.
func (c *container) imageRef() string { return c.image.Reference(c.name()) }

// ContainerStatus describes a container.
func (r *Runtime) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	c, err := r.container(id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runtimeapi.ContainerStatusResponse{Status: c.status()}, nil
}

// status requires Runtime.mu.
func (c *container) status() *runtimeapi.ContainerStatus {
	s := &runtimeapi.ContainerStatus{
		Id: c.id, Metadata: c.config.GetMetadata(), State: c.state, CreatedAt: c.created.UnixNano(), ExitCode: c.exit,
		Image: &runtimeapi.ImageSpec{Image: c.name()}, ImageRef: c.imageRef(), ImageId: c.image.ID, Reason: c.reason, Message: c.message,
		Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(), Mounts: c.config.GetMounts(), LogPath: c.log.path,
		Resources: &runtimeapi.ContainerResources{Linux: c.resources}, User: userOf(c.prepared),
	}
	if !c.started.IsZero() {
		s.StartedAt = c.started.UnixNano()
	}
	if !c.finished.IsZero() {
		s.FinishedAt = c.finished.UnixNano()
	}
	return s
}

// userOf returns the user of a container's first process, or nil if the starter does not set one.
func userOf(p Prepared) *runtimeapi.ContainerUser {
	if p, ok := p.(Identified); ok {
		return &runtimeapi.ContainerUser{Linux: p.User()}
	}
	return nil
}

// ReopenContainerLog opens a new log after the kubelet has rotated the old one.
func (r *Runtime) ReopenContainerLog(_ context.Context, id string) error {
	c, _, err := r.running(id)
	if err != nil {
		return err
	}
	return c.log.open()
}

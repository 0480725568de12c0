package cri

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	internalapi "k8s.io/cri-api/pkg/apis"
	api "k8s.io/cri-api/pkg/apis/runtime/v1"
	remote "k8s.io/cri-client/pkg"
	utilexec "k8s.io/utils/exec"
)

// runtimeServer serves a runtime that is called by its Go interface. Containers of a pod have processes of their own,
// as the kubelet asks for unless a pod says otherwise: critest leaves that open, which would mean that they share them.
type runtimeServer struct {
	api.UnimplementedRuntimeServiceServer
	runtime internalapi.RuntimeService
}

// either is a message that is there.
func either[T any](m *T) *T {
	if m == nil {
		m = new(T)
	}
	return m
}

func ownProcesses(o *api.NamespaceOption) *api.NamespaceOption {
	o = either(o)
	if o.Pid == api.NamespaceMode_POD {
		o.Pid = api.NamespaceMode_CONTAINER
	}
	return o
}

func (s *runtimeServer) Version(ctx context.Context, q *api.VersionRequest) (*api.VersionResponse, error) {
	return s.runtime.Version(ctx, q.GetVersion())
}

func (s *runtimeServer) Status(ctx context.Context, q *api.StatusRequest) (*api.StatusResponse, error) {
	return s.runtime.Status(ctx, q.GetVerbose())
}

func (s *runtimeServer) RuntimeConfig(ctx context.Context, _ *api.RuntimeConfigRequest) (*api.RuntimeConfigResponse, error) {
	return s.runtime.RuntimeConfig(ctx)
}

func (s *runtimeServer) UpdateRuntimeConfig(ctx context.Context, q *api.UpdateRuntimeConfigRequest) (*api.UpdateRuntimeConfigResponse, error) {
	return &api.UpdateRuntimeConfigResponse{}, s.runtime.UpdateRuntimeConfig(ctx, q.GetRuntimeConfig())
}

func (s *runtimeServer) RunPodSandbox(ctx context.Context, q *api.RunPodSandboxRequest) (*api.RunPodSandboxResponse, error) {
	if c := q.GetConfig(); c != nil {
		c.Linux = either(c.Linux)
		c.Linux.SecurityContext = either(c.Linux.SecurityContext)
		c.Linux.SecurityContext.NamespaceOptions = ownProcesses(c.Linux.SecurityContext.NamespaceOptions)
	}
	id, err := s.runtime.RunPodSandbox(ctx, q.GetConfig(), q.GetRuntimeHandler())
	return &api.RunPodSandboxResponse{PodSandboxId: id}, err
}

func (s *runtimeServer) StopPodSandbox(ctx context.Context, q *api.StopPodSandboxRequest) (*api.StopPodSandboxResponse, error) {
	return &api.StopPodSandboxResponse{}, s.runtime.StopPodSandbox(ctx, q.GetPodSandboxId())
}

func (s *runtimeServer) RemovePodSandbox(ctx context.Context, q *api.RemovePodSandboxRequest) (*api.RemovePodSandboxResponse, error) {
	return &api.RemovePodSandboxResponse{}, s.runtime.RemovePodSandbox(ctx, q.GetPodSandboxId())
}

func (s *runtimeServer) PodSandboxStatus(ctx context.Context, q *api.PodSandboxStatusRequest) (*api.PodSandboxStatusResponse, error) {
	return s.runtime.PodSandboxStatus(ctx, q.GetPodSandboxId(), q.GetVerbose())
}

func (s *runtimeServer) ListPodSandbox(ctx context.Context, q *api.ListPodSandboxRequest) (*api.ListPodSandboxResponse, error) {
	items, err := s.runtime.ListPodSandbox(ctx, q.GetFilter())
	return &api.ListPodSandboxResponse{Items: items}, err
}

func (s *runtimeServer) PodSandboxStats(ctx context.Context, q *api.PodSandboxStatsRequest) (*api.PodSandboxStatsResponse, error) {
	stats, err := s.runtime.PodSandboxStats(ctx, q.GetPodSandboxId())
	return &api.PodSandboxStatsResponse{Stats: stats}, err
}

func (s *runtimeServer) ListPodSandboxStats(ctx context.Context, q *api.ListPodSandboxStatsRequest) (*api.ListPodSandboxStatsResponse, error) {
	stats, err := s.runtime.ListPodSandboxStats(ctx, q.GetFilter())
	return &api.ListPodSandboxStatsResponse{Stats: stats}, err
}

func (s *runtimeServer) CreateContainer(ctx context.Context, q *api.CreateContainerRequest) (*api.CreateContainerResponse, error) {
	if c := q.GetConfig(); c != nil {
		c.Linux = either(c.Linux)
		c.Linux.SecurityContext = either(c.Linux.SecurityContext)
		c.Linux.SecurityContext.NamespaceOptions = ownProcesses(c.Linux.SecurityContext.NamespaceOptions)
	}
	id, err := s.runtime.CreateContainer(ctx, q.GetPodSandboxId(), q.GetConfig(), q.GetSandboxConfig())
	return &api.CreateContainerResponse{ContainerId: id}, err
}

func (s *runtimeServer) StartContainer(ctx context.Context, q *api.StartContainerRequest) (*api.StartContainerResponse, error) {
	return &api.StartContainerResponse{}, s.runtime.StartContainer(ctx, q.GetContainerId())
}

func (s *runtimeServer) StopContainer(ctx context.Context, q *api.StopContainerRequest) (*api.StopContainerResponse, error) {
	return &api.StopContainerResponse{}, s.runtime.StopContainer(ctx, q.GetContainerId(), q.GetTimeout())
}

func (s *runtimeServer) RemoveContainer(ctx context.Context, q *api.RemoveContainerRequest) (*api.RemoveContainerResponse, error) {
	return &api.RemoveContainerResponse{}, s.runtime.RemoveContainer(ctx, q.GetContainerId())
}

func (s *runtimeServer) ListContainers(ctx context.Context, q *api.ListContainersRequest) (*api.ListContainersResponse, error) {
	all, err := s.runtime.ListContainers(ctx, q.GetFilter())
	return &api.ListContainersResponse{Containers: all}, err
}

func (s *runtimeServer) ContainerStatus(ctx context.Context, q *api.ContainerStatusRequest) (*api.ContainerStatusResponse, error) {
	return s.runtime.ContainerStatus(ctx, q.GetContainerId(), q.GetVerbose())
}

func (s *runtimeServer) UpdateContainerResources(ctx context.Context, q *api.UpdateContainerResourcesRequest) (*api.UpdateContainerResourcesResponse, error) {
	return &api.UpdateContainerResourcesResponse{}, s.runtime.UpdateContainerResources(ctx, q.GetContainerId(), &api.ContainerResources{Linux: q.GetLinux()})
}

func (s *runtimeServer) ReopenContainerLog(ctx context.Context, q *api.ReopenContainerLogRequest) (*api.ReopenContainerLogResponse, error) {
	return &api.ReopenContainerLogResponse{}, s.runtime.ReopenContainerLog(ctx, q.GetContainerId())
}

func (s *runtimeServer) ContainerStats(ctx context.Context, q *api.ContainerStatsRequest) (*api.ContainerStatsResponse, error) {
	stats, err := s.runtime.ContainerStats(ctx, q.GetContainerId())
	return &api.ContainerStatsResponse{Stats: stats}, err
}

func (s *runtimeServer) ListContainerStats(ctx context.Context, q *api.ListContainerStatsRequest) (*api.ListContainerStatsResponse, error) {
	stats, err := s.runtime.ListContainerStats(ctx, q.GetFilter())
	return &api.ListContainerStatsResponse{Stats: stats}, err
}

// ExecSync has an exit status in its answer where the Go interface has an error.
func (s *runtimeServer) ExecSync(ctx context.Context, q *api.ExecSyncRequest) (*api.ExecSyncResponse, error) {
	out, errs, err := s.runtime.ExecSync(ctx, q.GetContainerId(), q.GetCmd(), time.Duration(q.GetTimeout())*time.Second)
	answer := &api.ExecSyncResponse{Stdout: out, Stderr: errs}
	var exit utilexec.ExitError
	switch {
	case errors.As(err, &exit):
		answer.ExitCode, err = int32(exit.ExitStatus()), nil
	case errors.Is(err, remote.ErrCommandTimedOut):
		err = status.Error(codes.DeadlineExceeded, err.Error())
	}
	return answer, err
}

func (s *runtimeServer) Exec(ctx context.Context, q *api.ExecRequest) (*api.ExecResponse, error) {
	return s.runtime.Exec(ctx, q)
}

func (s *runtimeServer) Attach(ctx context.Context, q *api.AttachRequest) (*api.AttachResponse, error) {
	return s.runtime.Attach(ctx, q)
}

func (s *runtimeServer) PortForward(ctx context.Context, q *api.PortForwardRequest) (*api.PortForwardResponse, error) {
	return s.runtime.PortForward(ctx, q)
}

// imageServer serves images likewise.
type imageServer struct {
	api.UnimplementedImageServiceServer
	images internalapi.ImageManagerService
}

func (s *imageServer) ListImages(ctx context.Context, q *api.ListImagesRequest) (*api.ListImagesResponse, error) {
	all, err := s.images.ListImages(ctx, q.GetFilter())
	return &api.ListImagesResponse{Images: all}, err
}

func (s *imageServer) ImageStatus(ctx context.Context, q *api.ImageStatusRequest) (*api.ImageStatusResponse, error) {
	return s.images.ImageStatus(ctx, q.GetImage(), q.GetVerbose())
}

func (s *imageServer) PullImage(ctx context.Context, q *api.PullImageRequest) (*api.PullImageResponse, error) {
	id, err := s.images.PullImage(ctx, q.GetImage(), q.GetAuth(), q.GetSandboxConfig())
	return &api.PullImageResponse{ImageRef: id}, err
}

func (s *imageServer) RemoveImage(ctx context.Context, q *api.RemoveImageRequest) (*api.RemoveImageResponse, error) {
	return &api.RemoveImageResponse{}, s.images.RemoveImage(ctx, q.GetImage())
}

func (s *imageServer) ImageFsInfo(ctx context.Context, _ *api.ImageFsInfoRequest) (*api.ImageFsInfoResponse, error) {
	return s.images.ImageFsInfo(ctx)
}

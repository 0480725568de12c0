package cri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"

	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/removetree"
)

// Network joins sandboxes to the cluster's network.
type Network interface {
	Add(settings map[string]string) (*podnet.Pod, error)
	Remove(*podnet.Pod)
}

// Options say what a runtime works with.
type Options struct {
	Dir     string // for containers, emptied at the start
	Images  *imagestore.Store
	Network Network
	Starter Starter
	Version string
}

// Runtime is a container runtime.
type Runtime struct {
	options Options
	stream  streaming.Server

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
	events     chan<- *runtimeapi.ContainerEventResponse
}

var _ internalapi.RuntimeService = (*Runtime)(nil)

// name is what the runtime calls itself.
const name = "slipway"

// New makes a runtime without containers.
func New(o Options) (*Runtime, error) {
	if err := removetree.All(o.Dir); err != nil {
		return nil, fmt.Errorf("remove old containers: %w", err)
	}
	for _, dir := range []string{sandboxesFolder, containersFolder} {
		if err := os.MkdirAll(filepath.Join(o.Dir, dir), folderMode); err != nil {
			return nil, fmt.Errorf("make the folder for containers: %w", err)
		}
	}
	r := &Runtime{options: o, sandboxes: map[string]*sandbox{}, containers: map[string]*container{}}
	return r, r.serveStreams()
}

// serveStreams serves exec, attach and port-forward to the kubelet, which is in this process.
func (r *Runtime) serveStreams() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve streams: %w", err)
	}
	config := streaming.DefaultConfig
	config.Addr = listener.Addr().String()
	if r.stream, err = streaming.NewServer(config, streams{r}); err != nil {
		return fmt.Errorf("serve streams: %w", err)
	}
	go serve(listener, r.stream)
	return nil
}

// Version reports which runtime this is.
func (r *Runtime) Version(context.Context, string) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: name, RuntimeVersion: r.options.Version, RuntimeApiVersion: "v1"}, nil
}

// Status reports that the runtime is ready, as it is from the beginning.
func (r *Runtime) Status(context.Context, bool) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{
		Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
			{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true},
		}},
		RuntimeHandlers: []*runtimeapi.RuntimeHandler{{Features: &runtimeapi.RuntimeHandlerFeatures{}}},
		Features:        &runtimeapi.RuntimeFeatures{SupplementalGroupsPolicy: true},
	}, nil
}

// UpdateRuntimeConfig takes note of nothing: the node's configuration says the pods' range.
func (r *Runtime) UpdateRuntimeConfig(context.Context, *runtimeapi.RuntimeConfig) error { return nil }

// RuntimeConfig reports how cgroups are managed, which the kubelet does not do here.
func (r *Runtime) RuntimeConfig(context.Context) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: runtimeapi.CgroupDriver_CGROUPFS}}, nil
}

// Close does nothing: everything ends with the node.
func (r *Runtime) Close(context.Context) error { return nil }

// UpdatePodSandboxResources does nothing, since sandboxes have no limits of their own.
func (r *Runtime) UpdatePodSandboxResources(context.Context, *runtimeapi.UpdatePodSandboxResourcesRequest) (*runtimeapi.UpdatePodSandboxResourcesResponse, error) {
	return &runtimeapi.UpdatePodSandboxResourcesResponse{}, nil
}

// ErrUnsupported marks what real nodes cannot do.
var ErrUnsupported = errors.New("slipway's nodes do not support that")

// CheckpointContainer is refused.
func (r *Runtime) CheckpointContainer(context.Context, *runtimeapi.CheckpointContainerRequest) error {
	return fmt.Errorf("%w: checkpoint a container", ErrUnsupported)
}

// CheckpointPod is refused.
func (r *Runtime) CheckpointPod(context.Context, *runtimeapi.CheckpointPodRequest) error {
	return fmt.Errorf("%w: checkpoint a pod", ErrUnsupported)
}

// RestorePod is refused.
func (r *Runtime) RestorePod(context.Context, *runtimeapi.RestorePodRequest) (*runtimeapi.RestorePodResponse, error) {
	return nil, fmt.Errorf("%w: restore a pod", ErrUnsupported)
}

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

// Network connects sandboxes to the cluster's network.
type Network interface {
	Add(settings map[string]string) (*podnet.Pod, error)
	Remove(*podnet.Pod)
}

// Options configure a [Runtime].
type Options struct {
	Dir     string // for containers; New removes what is in it
	Images  *imagestore.Store
	Network Network
	Starter Starter
	Version string
}

// Runtime implements the CRI's runtime service.
type Runtime struct {
	options Options
	stream  streaming.Server

	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
	events     chan<- *runtimeapi.ContainerEventResponse
}

var _ internalapi.RuntimeService = (*Runtime)(nil)

const name = "slipway"

// New returns a runtime without containers. It removes those of an earlier run.
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

// serveStreams serves exec, attach and port-forward on loopback for the kubelet, which is in this process.
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

// Version returns the name and version of the runtime.
func (r *Runtime) Version(context.Context, string) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: name, RuntimeVersion: r.options.Version, RuntimeApiVersion: "v1"}, nil
}

// Status reports the runtime and its network as ready, which they always are.
func (r *Runtime) Status(context.Context, bool) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{
		Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
			{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true},
		}},
		RuntimeHandlers: []*runtimeapi.RuntimeHandler{{Features: &runtimeapi.RuntimeHandlerFeatures{}}},
		Features:        &runtimeapi.RuntimeFeatures{SupplementalGroupsPolicy: true},
	}, nil
}

// UpdateRuntimeConfig does nothing: the node's configuration has the range of pods.
func (r *Runtime) UpdateRuntimeConfig(context.Context, *runtimeapi.RuntimeConfig) error { return nil }

// RuntimeConfig returns the cgroup driver cgroupfs. The kubelet does not manage cgroups here.
func (r *Runtime) RuntimeConfig(context.Context) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: runtimeapi.CgroupDriver_CGROUPFS}}, nil
}

// Close does nothing: everything ends with the node.
func (r *Runtime) Close(context.Context) error { return nil }

// UpdatePodSandboxResources does nothing, since sandboxes have no cgroups.
func (r *Runtime) UpdatePodSandboxResources(context.Context, *runtimeapi.UpdatePodSandboxResourcesRequest) (*runtimeapi.UpdatePodSandboxResourcesResponse, error) {
	return &runtimeapi.UpdatePodSandboxResourcesResponse{}, nil
}

// ErrUnsupported marks a setting or a request that real nodes do not support.
var ErrUnsupported = errors.New("slipway's nodes do not support that")

// CheckpointContainer always fails with [ErrUnsupported].
func (r *Runtime) CheckpointContainer(context.Context, *runtimeapi.CheckpointContainerRequest) error {
	return fmt.Errorf("%w: checkpoint a container", ErrUnsupported)
}

// CheckpointPod always fails with [ErrUnsupported].
func (r *Runtime) CheckpointPod(context.Context, *runtimeapi.CheckpointPodRequest) error {
	return fmt.Errorf("%w: checkpoint a pod", ErrUnsupported)
}

// RestorePod always fails with [ErrUnsupported].
func (r *Runtime) RestorePod(context.Context, *runtimeapi.RestorePodRequest) (*runtimeapi.RestorePodResponse, error) {
	return nil, fmt.Errorf("%w: restore a pod", ErrUnsupported)
}

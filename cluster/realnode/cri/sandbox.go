package cri

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// sandbox is what a pod's containers share. Runtime.mu guards the fields that change.
type sandbox struct {
	id      string
	config  *runtimeapi.PodSandboxConfig
	created time.Time
	dir     string
	network *podnet.Pod // nil in the node's network
	memory  []wire.Mount
	stopped bool
}

const (
	sandboxesFolder  = "sandboxes"
	containersFolder = "containers"
	pointsFolder     = "points"

	folderMode = 0o755
	fileMode   = 0o644

	resolvFile   = "resolv.conf"
	hostnameFile = "hostname"

	idBytes = 32
	// shortID is the length of an ID in paths.
	shortID = 24
)

func newID() string {
	id := make([]byte, idBytes)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// unknown returns an error with the gRPC code NotFound, which the kubelet recognizes.
func unknown(what, id string) error {
	return status.Errorf(codes.NotFound, "no such %s: %s", what, id)
}

// RunPodSandbox makes a pod's network, files and shared memory. It refuses unsupported settings with the reason.
func (r *Runtime) RunPodSandbox(_ context.Context, config *runtimeapi.PodSandboxConfig, handler string) (string, error) {
	options := config.GetLinux().GetSecurityContext().GetNamespaceOptions()
	if err := errors.Join(refuse(options), refuseHandler(handler), refuseSettings(config)); err != nil {
		return "", err
	}
	s := &sandbox{id: newID(), config: config, created: time.Now()}
	s.dir = filepath.Join(r.options.Dir, sandboxesFolder, s.id[:shortID])
	if err := r.makeResources(s); err != nil {
		return "", errors.Join(err, s.release(r.options.Starter), os.RemoveAll(s.dir))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes[s.id] = s
	return s.id, nil
}

// makeResources makes the pod's files, memory and network. If it fails, the caller must remove those that exist.
func (r *Runtime) makeResources(s *sandbox) (err error) {
	if err := errors.Join(s.writeFiles(), s.share(r.options.Starter)); err != nil {
		return err
	}
	linux := s.config.GetLinux()
	if linux.GetSecurityContext().GetNamespaceOptions().GetNetwork() != runtimeapi.NamespaceMode_NODE {
		s.network, err = r.options.Network.Add(linux.GetSysctls())
	}
	return err
}

// writeFiles writes the pod's files for /etc.
func (s *sandbox) writeFiles() error {
	if err := os.MkdirAll(s.dir, folderMode); err != nil {
		return fmt.Errorf("make the pod's folder: %w", err)
	}
	var b strings.Builder
	dns := s.config.GetDnsConfig()
	for _, server := range dns.GetServers() {
		fmt.Fprintf(&b, "nameserver %s\n", server)
	}
	if len(dns.GetSearches()) > 0 {
		fmt.Fprintf(&b, "search %s\n", strings.Join(dns.GetSearches(), " "))
	}
	if len(dns.GetOptions()) > 0 {
		fmt.Fprintf(&b, "options %s\n", strings.Join(dns.GetOptions(), " "))
	}
	for name, text := range map[string]string{resolvFile: b.String(), hostnameFile: s.config.GetHostname() + "\n"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), fileMode); err != nil {
			return fmt.Errorf("write the pod's %s: %w", name, err)
		}
	}
	if logs := s.config.GetLogDirectory(); logs != "" {
		if err := os.MkdirAll(logs, folderMode); err != nil {
			return fmt.Errorf("make the folder for the pod's logs: %w", err)
		}
	}
	return nil
}

func (r *Runtime) sandbox(id string) (*sandbox, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sandboxes[id]; ok {
		return s, nil
	}
	return nil, unknown("sandbox", id)
}

// StopPodSandbox kills a pod's containers, and removes its network and shared memory. It does nothing for an unknown or
// stopped pod.
func (r *Runtime) StopPodSandbox(ctx context.Context, id string) error {
	s, err := r.sandbox(id)
	if err != nil {
		return nil // an unknown sandbox counts as stopped
	}
	for _, c := range r.containersOf(s) {
		if err := r.StopContainer(ctx, c.id, 0); err != nil {
			return err
		}
	}
	r.mu.Lock()
	stopped := s.stopped
	s.stopped = true
	r.mu.Unlock()
	if !stopped && s.network != nil {
		r.options.Network.Remove(s.network)
	}
	if stopped {
		return nil
	}
	r.notify(s, "")
	return s.release(r.options.Starter)
}

// RemovePodSandbox stops a pod and removes its files and containers. An unknown pod is no error.
func (r *Runtime) RemovePodSandbox(ctx context.Context, id string) error {
	s, err := r.sandbox(id)
	if err != nil {
		return nil
	}
	if err := r.StopPodSandbox(ctx, id); err != nil {
		return err
	}
	for _, c := range r.containersOf(s) {
		if err := r.RemoveContainer(ctx, c.id); err != nil {
			return err
		}
	}
	r.mu.Lock()
	delete(r.sandboxes, id)
	r.mu.Unlock()
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove the pod's files: %w", err)
	}
	return nil
}

func (r *Runtime) containersOf(s *sandbox) []*container {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*container
	for _, c := range r.containers {
		if c.sandbox == s {
			all = append(all, c)
		}
	}
	return all
}

// PodSandboxStatus describes a sandbox.
func (r *Runtime) PodSandboxStatus(_ context.Context, id string, _ bool) (*runtimeapi.PodSandboxStatusResponse, error) {
	s, err := r.sandbox(id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runtimeapi.PodSandboxStatusResponse{Status: r.statusOf(s)}, nil
}

// statusOf requires r.mu.
func (r *Runtime) statusOf(s *sandbox) *runtimeapi.PodSandboxStatus {
	c := s.config
	return &runtimeapi.PodSandboxStatus{
		Id: s.id, Metadata: c.GetMetadata(), State: s.state(), CreatedAt: s.created.UnixNano(),
		Network: &runtimeapi.PodSandboxNetworkStatus{Ip: r.ip(s)},
		Linux: &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{
			Options: c.GetLinux().GetSecurityContext().GetNamespaceOptions(),
		}},
		Labels: c.GetLabels(), Annotations: c.GetAnnotations(),
	}
}

// ip returns "" for pods in the node's network: the kubelet knows their address.
func (r *Runtime) ip(s *sandbox) string {
	if s.network == nil {
		return ""
	}
	return s.network.Address.String()
}

func (s *sandbox) state() runtimeapi.PodSandboxState {
	if s.stopped {
		return runtimeapi.PodSandboxState_SANDBOX_NOTREADY
	}
	return runtimeapi.PodSandboxState_SANDBOX_READY
}

// ListPodSandbox returns the sandboxes that match the filter, newest first.
func (r *Runtime) ListPodSandbox(_ context.Context, f *runtimeapi.PodSandboxFilter) ([]*runtimeapi.PodSandbox, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*runtimeapi.PodSandbox
	for _, s := range r.sandboxes {
		if !passes(f.GetId(), s.id) || f.GetState() != nil && f.GetState().GetState() != s.state() || !hasLabels(s.config.GetLabels(), f.GetLabelSelector()) {
			continue
		}
		list = append(list, &runtimeapi.PodSandbox{
			Id: s.id, Metadata: s.config.GetMetadata(), State: s.state(), CreatedAt: s.created.UnixNano(),
			Labels: s.config.GetLabels(), Annotations: s.config.GetAnnotations(),
		})
	}
	slices.SortFunc(list, func(a, b *runtimeapi.PodSandbox) int { return int(b.CreatedAt - a.CreatedAt) })
	return list, nil
}

func passes(wanted, id string) bool { return wanted == "" || wanted == id }

func hasLabels(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if labels[k] != v {
			return false
		}
	}
	return true
}

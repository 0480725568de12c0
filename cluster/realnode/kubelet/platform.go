package kubelet

import (
	"context"
	"net"
	"net/http"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// platform has the parts of a node that differ between isolated and plain nodes.
type platform struct {
	folders   folders
	dial      func(ctx context.Context, network, address string) (net.Conn, error) // to the API server
	pulls     http.RoundTripper                                                    // to registries
	network   cri.Network
	starter   cri.Starter
	mounter   mount.Interface
	subpather subpath.Interface
	host      hostutil.HostUtils
	files     kubecontainer.OSInterface

	listen    string // address of the kubelet's server
	port      int32
	nodeIP    string // the address that the kubelet reports; empty if the cluster's process reports it
	cloud     string
	adaptPods func(record.EventRecorder) func([]*corev1.Pod) []*corev1.Pod // removes unsupported fields; nil on isolated nodes
}

type folders struct{ root, images, containers, logs, keys, volumes string }

// isolatedFolders returns the kubelet's usual paths, for a node with a root of its own.
func isolatedFolders() folders {
	return folders{
		root: "/var/lib/kubelet", images: "/var/lib/slipway/images", containers: "/var/lib/slipway/containers", logs: "/var/log/pods",
		keys:    "/tmp/keys", // a tmpfs, gone with the node
		volumes: wire.PathVolumes,
	}
}

// plainFolders returns the folders of a plain node: below dir, apart from the cluster's volumes. Names are short,
// because sockets are below them.
func plainFolders(dir, volumes string) folders {
	below := func(name string) string { return filepath.Join(dir, name) }
	return folders{root: below("k"), images: below("images"), containers: below("c"), logs: below("logs"), keys: below("keys"), volumes: volumes}
}

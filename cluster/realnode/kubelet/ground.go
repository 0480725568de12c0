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

// ground is what a node stands on: namespaces of its own, or the machine as it is.
type ground struct {
	folders   folders
	dial      func(ctx context.Context, network, address string) (net.Conn, error) // to the API server
	pulls     http.RoundTripper                                                    // to registries
	network   cri.Network
	starter   cri.Starter
	mounter   mount.Interface
	subpather subpath.Interface
	host      hostutil.HostUtils
	files     kubecontainer.OSInterface

	listen  string // where the kubelet's server is
	port    int32
	nodeIP  string // what the kubelet is to tell of; empty where the Node has its address already
	cloud   string
	adapted func(record.EventRecorder) func([]*corev1.Pod) []*corev1.Pod // pods as they can be run; nil as they are
}

// folders are those of a node.
type folders struct{ root, images, containers, logs, keys, volumes string }

// usualFolders are those of a node with files of its own, where a kubelet has them anywhere.
func usualFolders() folders {
	return folders{
		root: "/var/lib/kubelet", images: "/var/lib/slipway/images", containers: "/var/lib/slipway/containers", logs: "/var/log/pods",
		keys:    "/tmp/keys", // in memory, and gone with the node
		volumes: wire.PathVolumes,
	}
}

// foldersBelow are those of a node that has a folder of this machine, and beside that one with the cluster's volumes.
func foldersBelow(dir, volumes string) folders {
	below := func(name string) string { return filepath.Join(dir, name) }
	return folders{root: below("k"), images: below("images"), containers: below("c"), logs: below("logs"), keys: below("keys"), volumes: volumes}
}

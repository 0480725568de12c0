package kubelet

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	stock "k8s.io/kubernetes/pkg/kubelet"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/realnode/plain"
)

// beginPlain prepares the process of a plain node and returns its configuration. The process exits at the end of
// FileLife, which ends with the process that started it.
func beginPlain() (nodeconfig.Config, *nodeconfig.Requests, error) {
	syscall.CloseOnExec(nodeconfig.FileConfig)
	syscall.CloseOnExec(nodeconfig.FileLife)
	syscall.CloseOnExec(nodeconfig.FilePresence)
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(nodeconfig.FileLife, "life"))
		os.Exit(0)
	}()
	return nodeconfig.Accept(os.NewFile(nodeconfig.FileConfig, "cluster"))
}

// plainPlatform returns the ground of a plain node.
func plainPlatform(c nodeconfig.Config) *platform {
	mounts := plain.NewMounts()
	stock.ContainerLogsDir = filepath.Join(c.Plain.Dir, "links") // upstream's default is a folder of the machine: /var/log/containers
	return &platform{
		folders: plainFolders(c.Plain.Dir, c.Plain.Volumes), dial: (&net.Dialer{}).DialContext, pulls: http.DefaultTransport,
		network: plain.Network{}, starter: plain.New(plain.Options{
			Program: c.Plain.Container, Server: c.Server, Presence: os.NewFile(nodeconfig.FilePresence, "presence"),
		}),
		mounter: mounts, subpather: plain.Subpaths{}, host: plain.NewHost(), files: plain.Files{},
		listen: "127.0.0.1", port: int32(c.Plain.Port),
		cloud:     "external", // keeps the kubelet from setting the Node's address
		adaptPods: adaptedToMachine,
	}
}

// adaptedToMachine removes fields that plain nodes do not support, and reports them in an Event on the pod.
func adaptedToMachine(recorder record.EventRecorder) func([]*corev1.Pod) []*corev1.Pod {
	pods := plain.Pods{Report: func(pod *corev1.Pod, left string) {
		recorder.Eventf(pod, corev1.EventTypeWarning, "NotIsolated", "This pod runs as plain processes of this machine, without: %s", left)
	}}
	return pods.Adapt
}

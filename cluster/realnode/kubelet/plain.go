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

// beginPlain prepares the process of a node on the machine as it is, and returns its configuration. The node ends with
// the process that has started it: then a file ends.
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

// onMachine is the ground that the machine is.
func onMachine(c nodeconfig.Config) *ground {
	mounts := plain.NewMounts()
	stock.ContainerLogsDir = filepath.Join(c.Plain.Dir, "links") // of upstream, whose usual one is the machine's
	return &ground{
		folders: foldersBelow(c.Plain.Dir, c.Plain.Volumes), dial: (&net.Dialer{}).DialContext, pulls: http.DefaultTransport,
		network: plain.Network{}, starter: plain.New(plain.Options{
			Program: c.Plain.Container, Server: c.Server, Presence: os.NewFile(nodeconfig.FilePresence, "presence"),
		}),
		mounter: mounts, subpather: plain.Subpaths{}, host: plain.NewHost(), files: plain.Files{},
		listen: "127.0.0.1", port: int32(c.Plain.Port),
		cloud:   "external", // which has the kubelet leave the Node's address alone
		adapted: adaptedToMachine,
	}
}

// adaptedToMachine leaves out what plain processes cannot have, and tells so in an Event.
func adaptedToMachine(recorder record.EventRecorder) func([]*corev1.Pod) []*corev1.Pod {
	pods := plain.Pods{Tell: func(pod *corev1.Pod, left string) {
		recorder.Eventf(pod, corev1.EventTypeWarning, "NotIsolated", "This pod runs as plain processes of this machine, without: %s", left)
	}}
	return pods.Adapt
}

package kubelet

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/sys/unix"

	noopoteltrace "go.opentelemetry.io/otel/trace/noop"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	kubeletoptions "k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	stock "k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	kubeletserver "k8s.io/kubernetes/pkg/kubelet/server"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
	kubeletutil "k8s.io/kubernetes/pkg/kubelet/util"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/emptydir"
	"k8s.io/kubernetes/pkg/volume/image"
	"k8s.io/kubernetes/pkg/volume/projected"
	"k8s.io/kubernetes/pkg/volume/secret"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/handover"
	imagestore "github.com/slipway-dev/slipway/cluster/realnode/image"
	"github.com/slipway-dev/slipway/cluster/realnode/inside"
	"github.com/slipway-dev/slipway/cluster/realnode/seccomp"
)

// dependencies are the parts that the kubelet works with.
func (n *node) dependencies(ctx context.Context, s *kubeletoptions.KubeletServer) (*stock.Dependencies, error) {
	auth, runAuth, err := kubeletapp.BuildAuth(types.NodeName(n.Name), n.client, s.KubeletConfiguration)
	if err != nil {
		return nil, fmt.Errorf("authentication: %w", err)
	}
	runAuth(ctx.Done())
	runtime, images, err := n.runtime()
	if err != nil {
		return nil, err
	}
	recorder, tracker := n.recorder(ctx), newDeletions(kubeletutil.NewPodStartupLatencyTracker(), runtime.LookAt)
	mounter := mount.New("")
	return &stock.Dependencies{
		Auth: auth, KubeClient: n.client, HeartbeatClient: n.client, EventClient: n.client.CoreV1(),
		CAdvisorInterface: newHardware(n.Config), ContainerManager: newContainers(n.extended()),
		OOMAdjuster:          oom.NewFakeOOMAdjuster(),
		RemoteRuntimeService: runtime, RemoteImageService: images,
		OSInterface: kubecontainer.RealOS{}, VolumePlugins: volumePlugins(),
		Mounter: mounter, Subpather: subpath.New(mounter), HostUtil: hostutil.NewHostUtil(),
		Recorder: recorder, PodConfig: n.podConfig(ctx, recorder, tracker), PodStartupLatencyTracker: tracker,
		NodeStartupLatencyTracker: kubeletutil.NewNodeStartupLatencyTracker(klog.FromContext(ctx)),
		TracerProvider:            noopoteltrace.NewTracerProvider(),
		TLSOptions:                &kubeletserver.TLSOptions{CertFile: n.files.certificate, KeyFile: n.files.key, ClientCAFile: n.files.authority},
	}, nil
}

// recorder writes Events.
func (n *node) recorder(ctx context.Context) record.EventRecorderLogger {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: n.client.CoreV1().Events("")})
	return broadcaster.NewRecorder(legacyscheme.Scheme, corev1.EventSource{Component: kubeletserver.ComponentKubelet, Host: n.Name})
}

// podConfig follows the pods of this node from the beginning. The stock kubelet first waits for its own Node, and looks only once a second
// whether that has come: it wants the Node's labels, for the pods that ask for some. Here the configuration has them.
func (n *node) podConfig(ctx context.Context, recorder record.EventRecorderLogger, tracker kubeletutil.PodStartupLatencyTracker) *config.PodConfig {
	c := config.NewPodConfig(recorder, tracker)
	there := func() bool { return true }
	config.NewSourceApiserver(klog.FromContext(ctx), n.client, types.NodeName(n.Name), there, c.Channel(ctx, kubetypes.ApiserverSource))
	return c
}

// volumePlugins are those whose volumes hold what the API server has, or nothing. There is none for the host's folders.
func volumePlugins() []volume.VolumePlugin {
	var all []volume.VolumePlugin
	for _, probe := range []func() []volume.VolumePlugin{
		emptydir.ProbeVolumePlugins, configmap.ProbeVolumePlugins, secret.ProbeVolumePlugins, downwardapi.ProbeVolumePlugins,
		projected.ProbeVolumePlugins, image.ProbeVolumePlugins,
	} {
		all = append(all, probe()...)
	}
	return all
}

// runtime runs containers in the network that it sets up.
func (n *node) runtime() (*cri.Runtime, *cri.Images, error) {
	network, err := n.network()
	if err != nil {
		return nil, nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = n.host.DialContext
	store, err := imagestore.Open(imagesFolder, imagestore.Options{Registry: n.Registry, Transport: transport, Owners: n.IDs})
	if err != nil {
		return nil, nil, err
	}
	program, err := insideProgram()
	if err != nil {
		return nil, nil, err
	}
	runtime, err := cri.New(cri.Options{
		Dir: runFolder, Images: store, Network: network, Version: n.Kubernetes,
		Starter: cri.NewIsolated(cri.IsolatedOptions{Inside: program, IDs: n.IDs, Filter: seccomp.Default(), Groups: n.groups()}),
	})
	return runtime, cri.NewImages(store, imagesFolder), err
}

// groups are those that the host makes; nil where it cannot.
func (n *node) groups() cri.Groups {
	if !n.Limits {
		return nil
	}
	return handover.HostGroups{Client: n.host}
}

// insideProgram is a path of slipway-container, whose file is inherited: as a file that has no number which a container's files get.
func insideProgram() (string, error) {
	const number = 100
	fd, err := unix.FcntlInt(inside.FileInside, unix.F_DUPFD_CLOEXEC, number)
	if err != nil {
		return "", fmt.Errorf("find slipway-container: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), nil
}

package kubelet

import (
	"context"
	"fmt"

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

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// dependencies returns the parts that the kubelet is started with, in place of those that its own main makes.
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
	return &stock.Dependencies{
		Auth: auth, KubeClient: n.client, HeartbeatClient: n.client, EventClient: n.client.CoreV1(),
		CAdvisorInterface: newHardware(n.Config, n.ground.folders), ContainerManager: newContainers(n.advertised()),
		OOMAdjuster:          oom.NewFakeOOMAdjuster(),
		RemoteRuntimeService: runtime, RemoteImageService: images,
		OSInterface: n.ground.files, VolumePlugins: volumePlugins(n.ground.folders.volumes),
		Mounter: n.ground.mounter, Subpather: n.ground.subpather, HostUtil: n.ground.host,
		Recorder: recorder, PodConfig: n.podConfig(ctx, recorder, tracker), PodStartupLatencyTracker: tracker,
		NodeStartupLatencyTracker: kubeletutil.NewNodeStartupLatencyTracker(klog.FromContext(ctx)),
		TracerProvider:            noopoteltrace.NewTracerProvider(),
		TLSOptions:                &kubeletserver.TLSOptions{CertFile: n.files.certificate, KeyFile: n.files.key, ClientCAFile: n.files.authority},
	}, nil
}

func (n *node) recorder(ctx context.Context) record.EventRecorderLogger {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: n.client.CoreV1().Events("")})
	return broadcaster.NewRecorder(legacyscheme.Scheme, corev1.EventSource{Component: kubeletserver.ComponentKubelet, Host: n.Name})
}

// podConfig watches the pods of this node from the start. The stock kubelet first waits for its own Node, whose labels
// it needs to admit pods, and polls for it once a second. Here the configuration has the labels.
func (n *node) podConfig(ctx context.Context, recorder record.EventRecorderLogger, tracker kubeletutil.PodStartupLatencyTracker) *config.PodConfig {
	c := config.NewPodConfig(recorder, tracker)
	there := func() bool { return true }
	updates := c.Channel(ctx, kubetypes.ApiserverSource)
	if n.ground.adaptPods != nil {
		updates = mapPods(updates, n.ground.adaptPods(recorder))
	}
	config.NewSourceApiserver(klog.FromContext(ctx), n.client, types.NodeName(n.Name), there, updates)
	return c
}

// mapPods returns a channel whose updates change modifies before to receives them. It works until the process ends.
func mapPods[Update ~struct{ Pods []*corev1.Pod }](to chan<- Update, change func([]*corev1.Pod) []*corev1.Pod) chan<- Update {
	from := make(chan Update)
	go func() {
		for u := range from {
			to <- Update(struct{ Pods []*corev1.Pod }{change(struct{ Pods []*corev1.Pod }(u).Pods)})
		}
	}()
	return from
}

// volumePlugins returns upstream's plugins for volumes with data of the API server or none, and ours for the cluster's
// own volumes. A last plugin refuses all others, above all hostPath, with the reason.
func volumePlugins(volumes string) []volume.VolumePlugin {
	all := []volume.VolumePlugin{&ownVolumes{dir: volumes}, &otherVolumes{}}
	for _, probe := range []func() []volume.VolumePlugin{
		emptydir.ProbeVolumePlugins, configmap.ProbeVolumePlugins, secret.ProbeVolumePlugins, downwardapi.ProbeVolumePlugins,
		projected.ProbeVolumePlugins, image.ProbeVolumePlugins,
	} {
		all = append(all, probe()...)
	}
	return all
}

// answer answers the cluster's requests until the process ends.
func (n *node) answer(store *imagestore.Store) {
	err := n.requests.Serve(func(p nodeconfig.Prune) ([]nodeconfig.PrunedImage, error) {
		pruned, err := store.Prune(p.Age, p.Keep, p.DryRun)
		images := make([]nodeconfig.PrunedImage, len(pruned))
		for i, image := range pruned {
			images[i] = nodeconfig.PrunedImage(image)
		}
		return images, err
	})
	if err != nil {
		klog.Warningf("Requests of the cluster are not answered any more: %v", err)
	}
}

// runtime returns the container runtime and its images.
func (n *node) runtime() (*cri.Runtime, *cri.Images, error) {
	images := n.ground.folders.images
	store, err := imagestore.Open(images, imagestore.Options{
		Registry: n.Registry, Mirrors: n.Mirrors, Transport: n.ground.pulls, Owners: n.IDs, Warn: func(text string) { klog.Warning(text) },
	})
	if err != nil {
		return nil, nil, err
	}
	runtime, err := cri.New(cri.Options{
		Dir: n.ground.folders.containers, Images: store, Network: n.ground.network, Starter: n.ground.starter, Version: n.Kubernetes,
	})
	if err != nil {
		return nil, nil, err
	}
	store.Uses(runtime.Uses)
	go n.answer(store)
	return runtime, cri.NewImages(store, images), nil
}

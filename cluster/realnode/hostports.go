package realnode

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/slipway-dev/slipway/cluster/realnode/hostports"
)

// reasonHostPort is the reason of the Event on a pod whose host port is not served.
const reasonHostPort = "HostPortNotServed"

// serveHostPorts serves the host ports of these nodes' pods until the nodes end. It watches the pods of each node by
// itself: simulated nodes may have very many.
func (n *Nodes) serveHostPorts() error {
	var pods []cache.SharedIndexInformer
	var factories []informers.SharedInformerFactory
	for name := range n.members {
		factory := informers.NewSharedInformerFactoryWithOptions(n.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", name).String()
		}))
		pods = append(pods, factory.Core().V1().Pods().Informer())
		factories = append(factories, factory)
	}
	report := n.recorder(n.life)
	server, err := hostports.New(pods, hostports.Options{
		Dial: n.options.Machine.DialContext, Plain: !n.options.Machine.OwnNetwork(),
		Refused: func(pod *corev1.Pod, why string) { report.Event(pod, corev1.EventTypeWarning, reasonHostPort, why) },
		Trouble: func(err error) { n.options.Log.Warn("connections to host ports must wait", "error", err) },
	})
	if err != nil {
		return err
	}
	for _, f := range factories {
		f.Start(n.life.Done())
	}
	n.group.Go(func() {
		server.Run(n.life)
		for _, f := range factories {
			f.Shutdown()
		}
	})
	return nil
}

// recorder returns a recorder of Events about pods, which works until ctx ends.
func (n *Nodes) recorder(ctx context.Context) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: n.client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "slipway-nodes"})
}

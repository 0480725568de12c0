package apiserver

import (
	"context"
	"time"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/cluster/metricsapi"
)

const (
	// metricsHook is the start-up hook that looks whether the objects of the metrics API are there.
	metricsHook = "slipway/metrics-api"
	// metricsTime bounds it: a durable cluster may have webhooks that hold it up.
	metricsTime = 5 * time.Second
)

// addMetrics adds the metrics API to the server of the built-in groups, which stands behind the one in front. It reads
// pods and nodes from informers that the authorizer of nodes has anyway.
func addMetrics(groups, front *server.GenericAPIServer, f informers.SharedInformerFactory) error {
	config := front.LoopbackClientConfig
	err := metricsapi.Install(groups, metricsapi.Options{
		Pods: f.Core().V1().Pods().Lister(), Nodes: f.Core().V1().Nodes().Lister(), Client: config,
	})
	if err != nil {
		return err
	}
	return front.AddPostStartHook(metricsHook, func(hook server.PostStartHookContext) error {
		ctx, cancel := context.WithTimeout(hook, metricsTime)
		defer cancel()
		if err := metricsapi.Ensure(ctx, config); err != nil && hook.Err() == nil {
			klog.ErrorS(err, "The metrics API is incomplete") // which is no reason for the server to end
		}
		return nil
	})
}

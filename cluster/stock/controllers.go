package stock

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
	"github.com/slipway-dev/slipway/cluster/workers"
)

// controllersVariable has the API server bring controllers, scheduler and one simulated node: an envtest suite then
// sees garbage collected, namespaces deleted and Jobs done. Its value is 1, or the list of the controllers.
const controllersVariable = "SLIPWAY_CONTROLLERS"

// wantedControllers are the controllers that the environment asks for; nil: none. Errors are
// [controllers.ErrUnselectable].
func wantedControllers() ([]controllers.Controller, error) {
	switch value := os.Getenv(controllersVariable); value {
	case "", "0", "false":
		return nil, nil
	case "1", "true":
		return controllers.All(), nil
	default:
		list, err := controllers.Select(strings.Split(value, ","))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", controllersVariable, err)
		}
		return list, nil
	}
}

// The variables that say what becomes of simulated pods, and of those of Jobs: pending, running or complete.
const (
	podsVariable = "SLIPWAY_SIMULATED_PODS"
	jobsVariable = "SLIPWAY_SIMULATED_JOBS"
)

// wantedHabits are those that the environment asks for. Errors are [stage.ErrHabit].
func wantedHabits() (stage.Habits, error) {
	h := stage.Habits{Pods: stage.Habit(os.Getenv(podsVariable)), Jobs: stage.Habit(os.Getenv(jobsVariable))}
	return h, h.Validate()
}

// controllersHook is the start-up hook that brings them. The server is healthy when it is through, as with all hooks,
// so a suite begins with a node that is Ready.
const controllersHook = "slipway/start-controllers"

// startControllers makes the hook. What it starts ends with the server.
func startControllers(o options.CompletedOptions, list []controllers.Controller) genericapiserver.PostStartHookFunc {
	return func(hook genericapiserver.PostStartHookContext) error {
		err := bringControllers(hook.Context, o, list, hook.LoopbackClientConfig)
		if hook.Err() != nil {
			return nil // the server was stopped before
		}
		return err
	}
}

func bringControllers(ctx context.Context, o options.CompletedOptions, list []controllers.Controller, loopback *rest.Config) error {
	client := rest.CopyConfig(loopback)
	client.QPS, client.Burst = -1, 0 // ours, in the same process: no limits
	if err := waitForOtherHooks(ctx, client); err != nil {
		return fmt.Errorf("wait for the API server: %w", err)
	}
	habits, err := wantedHabits()
	if err != nil {
		return err
	}
	// Nobody signs certificates: the suite has the authority of its users.
	_, err = workers.Start(ctx, ctx, workers.Options{
		Client: client, Controllers: list, Nodes: node.Default(), Habits: habits,
		RootCA: o.SecureServing.ServerCert.CertKey.CertFile, ServiceAccountKey: o.ServiceAccountSigningKeyFile,
		Failed: func(e *protocol.ComponentError) { klog.ErrorS(e.Err, "A component ended", "component", e.Component) },
	})
	return err
}

// waitForOtherHooks returns when the server is ready but for our own hook.
func waitForOtherHooks(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	const pause = 5 * time.Millisecond
	return wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		var status int
		client.Discovery().RESTClient().Get().AbsPath("/readyz").Param("exclude", "poststarthook/"+controllersHook).
			MaxRetries(0).Do(ctx).StatusCode(&status)
		klog.V(4).InfoS("waiting for the API server", "status", status)
		return status == http.StatusOK, nil
	})
}

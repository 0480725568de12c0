package stock

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/scheduler"
)

// controllersVariable set to 1 has the API server bring controllers, scheduler and one simulated node: an envtest suite
// then sees garbage collected, namespaces deleted and Jobs done.
const controllersVariable = "SLIPWAY_CONTROLLERS"

// controllersHook is the start-up hook that brings them. The server is healthy when it is through, as with all hooks, so a
// suite begins with a node that is Ready.
const controllersHook = "slipway/start-controllers"

// startControllers makes the hook. What it starts ends with the server.
func startControllers(o options.CompletedOptions) genericapiserver.PostStartHookFunc {
	return func(hook genericapiserver.PostStartHookContext) error {
		err := bringControllers(hook.Context, o, hook.LoopbackClientConfig)
		if hook.Err() != nil {
			return nil // the server was stopped before
		}
		return err
	}
}

func bringControllers(ctx context.Context, o options.CompletedOptions, loopback *rest.Config) error {
	client := rest.CopyConfig(loopback)
	client.QPS, client.Burst = -1, 0 // ours, in the same process: no limits
	config := controllers.Config{Client: client}
	var err error
	if config.RootCA, err = os.ReadFile(o.SecureServing.ServerCert.CertKey.CertFile); err != nil {
		return fmt.Errorf("read the serving certificate: %w", err)
	}
	if config.ServiceAccountKey, err = signer(o.ServiceAccountSigningKeyFile); err != nil {
		return err
	}
	if err := waitForOtherHooks(ctx, client); err != nil {
		return fmt.Errorf("wait for the API server: %w", err)
	}
	group, starting := errgroup.WithContext(ctx)
	group.Go(func() error {
		return started(starting, func(ready func(informed.View)) error {
			return controllers.Run(ctx, config, withoutSigner(controllers.All()), ready)
		})
	})
	group.Go(func() error {
		return started(starting, func(ready func(informed.View)) error { return scheduler.Run(ctx, client, ready) })
	})
	group.Go(func() error {
		_, err := node.Run(ctx, client, node.Default(), slog.New(slog.DiscardHandler)) // ends with ctx
		return err
	})
	return group.Wait()
}

// withoutSigner leaves out the controller that signs certificates: as without upstream's --cluster-signing-cert-file there is no
// authority to sign with, the suite having that of its users.
func withoutSigner(list []controllers.Controller) []controllers.Controller {
	return slices.DeleteFunc(list, func(c controllers.Controller) bool { return c.Name == "certificatesigningrequest-signing-controller" })
}

// started runs a part in the background and returns when it says that it has started, or why it did not.
func started(ctx context.Context, run func(ready func(informed.View)) error) error {
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- run(func(informed.View) { close(ready) }) }()
	select {
	case <-ready:
		return nil
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// signer is the key that signs the tokens of service accounts.
func signer(file string) (crypto.Signer, error) {
	key, err := keyutil.PrivateKeyFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the service account key: %w", err)
	}
	if s, ok := key.(crypto.Signer); ok {
		return s, nil
	}
	return nil, errors.New("the service account key cannot sign")
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

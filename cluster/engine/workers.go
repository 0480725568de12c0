package engine

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/scheduler"
)

// startWorkers starts everything that is a client of the API server, all at once,
// and returns when pods can be made and will run.
func (c *Cluster) startWorkers(ctx, life context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.startControllers(ctx, life) })
	group.Go(func() error { return c.startScheduler(ctx, life) })
	group.Go(func() error { return c.startNodes(life) })
	return group.Wait()
}

func (c *Cluster) startControllers(ctx, life context.Context) error {
	c.components.set(protocol.Controllers, protocol.Starting)
	cfg, err := c.controllersConfig()
	if err != nil {
		return &Error{protocol.Controllers, err}
	}
	if err := c.startLoop(ctx, life, protocol.Controllers, func(ctx context.Context, started func(informed.View)) error {
		return controllers.Run(ctx, cfg, controllers.All(), started)
	}); err != nil {
		return err
	}
	if err := waitForServiceAccount(ctx, cfg.Client); err != nil {
		return &Error{protocol.Controllers, err}
	}
	c.components.set(protocol.Controllers, protocol.Running)
	return nil
}

func (c *Cluster) controllersConfig() (controllers.Config, error) {
	ca, err := os.ReadFile(c.keys.CA)
	if err != nil {
		return controllers.Config{}, err
	}
	key, err := keyutil.PrivateKeyFromFile(c.keys.ServiceAccountKey)
	if err != nil {
		return controllers.Config{}, fmt.Errorf("read the service account key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return controllers.Config{}, errors.New("the service account key cannot sign")
	}
	return controllers.Config{
		Client: c.loopback(), RootCA: ca, CAFile: c.keys.CA, CAKeyFile: c.keys.CAKey, ServiceAccountKey: signer,
	}, nil
}

func (c *Cluster) startScheduler(ctx, life context.Context) error {
	c.components.set(protocol.Scheduler, protocol.Starting)
	if err := c.startLoop(ctx, life, protocol.Scheduler, func(ctx context.Context, started func(informed.View)) error {
		return scheduler.Run(ctx, c.loopback(), started)
	}); err != nil {
		return err
	}
	c.components.set(protocol.Scheduler, protocol.Running)
	return nil
}

// logging makes what is logged on behalf of ctx go to the component's log.
func (c *Cluster) logging(ctx context.Context, component string) context.Context {
	return klog.NewContext(ctx, logr.FromSlogHandler(c.logger(component).Handler()))
}

// startLoop runs a component and returns when it says that it has started, or why it did not.
func (c *Cluster) startLoop(ctx, life context.Context, component string, run func(context.Context, func(informed.View)) error) error {
	started, ended := make(chan struct{}), make(chan error, 1)
	c.workers.Go(func() {
		c.run(c.logging(life, component), component, func(ctx context.Context) error {
			err := run(ctx, func(view informed.View) {
				c.see(view)
				close(started)
			})
			ended <- err
			return err
		})
	})
	select {
	case <-started:
		return nil
	case err := <-ended:
		return &Error{component, err}
	case <-ctx.Done():
		return &Error{component, context.Cause(ctx)}
	}
}

func (c *Cluster) startNodes(life context.Context) error {
	c.components.set(protocol.Nodes, protocol.Starting)
	nodes, err := node.Run(c.logging(life, protocol.Nodes), c.loopback(), c.spec.Nodes, c.logger(protocol.Nodes))
	if err != nil {
		return &Error{protocol.Nodes, err}
	}
	c.nodes = nodes
	c.workers.Go(func() {
		c.run(life, protocol.Nodes, func(ctx context.Context) error {
			<-ctx.Done()
			nodes.Stop()
			return nil
		})
	})
	c.components.set(protocol.Nodes, protocol.Running)
	return nil
}

const serviceAccountPoll = 5 * time.Millisecond

// waitForServiceAccount returns when pods can be made in the namespace default.
func waitForServiceAccount(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	tick := time.NewTicker(serviceAccountPoll)
	defer tick.Stop()
	for {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the default service account: %w: %w", err, context.Cause(ctx))
		}
	}
}

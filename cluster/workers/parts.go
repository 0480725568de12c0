package workers

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/keyutil"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/scheduler"
)

func (o Options) controllers() worker {
	return worker{
		component: protocol.Controllers,
		run: func(ctx context.Context, started func(informed.View)) error {
			config, err := o.controllersConfig()
			if err != nil {
				return err
			}
			return controllers.Run(ctx, config, o.Controllers, started)
		},
		useful: o.waitForServiceAccount,
	}
}

func (o Options) controllersConfig() (controllers.Config, error) {
	root, err := os.ReadFile(o.RootCA)
	if err != nil {
		return controllers.Config{}, fmt.Errorf("read the root certificate: %w", err)
	}
	key, err := signer(o.ServiceAccountKey)
	if err != nil {
		return controllers.Config{}, err
	}
	return controllers.Config{
		Client: o.Client, RootCA: root, CAFile: o.SigningCA, CAKeyFile: o.SigningKey, ServiceAccountKey: key, Volumes: o.Volumes,
		Host: o.Host, Listen: o.Listen,
	}, nil
}

// signer reads the key that signs the tokens of service accounts.
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

func (o Options) scheduler() worker {
	return worker{
		component: protocol.Scheduler,
		run: func(ctx context.Context, started func(informed.View)) error {
			return scheduler.Run(ctx, o.Client, o.Images, started)
		},
	}
}

// nodes hands the nodes over before they count as started.
func (o Options) nodes(to *Nodes) worker {
	return worker{
		component: protocol.Nodes,
		run: func(ctx context.Context, started func(informed.View)) error {
			log := slog.New(slog.DiscardHandler)
			if o.Logger != nil {
				log = o.Logger(protocol.Nodes)
			}
			nodes, err := o.RunNodes(ctx, o.Nodes, log)
			if err != nil {
				return err
			}
			*to = nodes
			started(nil)
			<-ctx.Done()
			nodes.Stop()
			return nil
		},
	}
}

const serviceAccountPoll = 5 * time.Millisecond

// waitForServiceAccount returns when pods can be made in the namespace default.
func (o Options) waitForServiceAccount(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(o.Client)
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

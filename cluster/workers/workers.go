// Package workers starts what makes a cluster of an API server: the controllers, the scheduler and the nodes, which
// are clients of the server in its own process.
//
//	nodes, err := workers.Start(starting, life, workers.Options{Client: loopback, RootCA: …, Nodes: node.Default()})
//
// They end with life. Who has to know what becomes of each gives functions to be reported by, see [Options].
package workers

import (
	"context"
	"errors"
	"log/slog"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/cluster/controllers"
	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/scheduler"
	"github.com/slipway-dev/slipway/cluster/simnode"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// Options says for which server the workers work, and what they report to. Each function may be nil.
type Options struct {
	Client *rest.Config // all rights, no limits
	// Controllers are those that run; nil: all.
	Controllers []controllers.Controller
	Nodes       []node.Spec
	Habits      stage.Habits // of simulated pods, without RunNodes
	// Images are what the scheduler places pods by where there are simulated and real nodes; nil for no such rule.
	Images scheduler.Images
	// RunNodes runs them; nil simulates them.
	RunNodes func(ctx context.Context, specs []node.Spec, log *slog.Logger) (Nodes, error)

	RootCA            string // the file that is published to every namespace
	ServiceAccountKey string // the file of the key that signs tokens of service accounts
	SigningCA         string // the file of the authority that signs approved certificate requests; empty: requests are not signed
	SigningKey        string // its key

	Volumes controllers.VolumeData // what is in volumes; nil without real nodes

	// Host has the addresses of load balancers and Ingresses on this machine, to which what Listen makes listens;
	// without, none answers.
	Host   hostaddress.Range
	Listen func(informers.SharedInformerFactory) (controllers.Loop, error)

	// Logger is asked for a component's log. Without it controllers and scheduler log by klog, and nodes do not.
	Logger func(component string) *slog.Logger
	// Changed is reported of a component that is starting, runs or has ended because life has.
	Changed func(component string, state protocol.State)
	// See is given a view of what a component knows, before that counts as running.
	See func(informed.View)
	// Failed is reported of a component that was running and ended before life did.
	Failed func(*protocol.ComponentError)
	// Go runs f in a goroutine that ends soon after life.
	Go func(f func())
}

// Nodes are the nodes of a cluster. [simnode.Nodes] are simulated ones.
type Nodes interface {
	Names() []string
	Lost() []string
	StopNode(name string) error
	StartNode(ctx context.Context, name string) error
	StartAll(context.Context) error
	Stop()
}

func simulate(client *rest.Config, habits stage.Habits) func(context.Context, []node.Spec, *slog.Logger) (Nodes, error) {
	return func(ctx context.Context, specs []node.Spec, log *slog.Logger) (Nodes, error) {
		return simnode.Run(ctx, client, simnode.Options{Specs: specs, Log: log, Habits: habits})
	}
}

var errEnded = errors.New("ended by itself")

// Start starts all workers at once and returns when pods can be made and will run, or with a
// [*protocol.ComponentError], and then what has started goes on until life ends. ctx bounds the start.
func Start(ctx, life context.Context, o Options) (Nodes, error) {
	o = o.withDefaults()
	var nodes Nodes
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range []worker{o.controllers(), o.scheduler(), o.nodes(&nodes)} {
		group.Go(func() error {
			if err := o.start(ctx, life, w); err != nil {
				return &protocol.ComponentError{Component: w.component, Err: err}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return nodes, nil
}

func (o Options) withDefaults() Options {
	if o.Changed == nil {
		o.Changed = func(string, protocol.State) {}
	}
	if o.See == nil {
		o.See = func(informed.View) {}
	}
	if o.Failed == nil {
		o.Failed = func(*protocol.ComponentError) {}
	}
	if o.Controllers == nil {
		o.Controllers = controllers.All()
	}
	if o.RunNodes == nil {
		o.RunNodes = simulate(o.Client, o.Habits)
	}
	if o.Go == nil {
		o.Go = func(f func()) { go f() }
	}
	return o
}

// A worker is one client of the server.
type worker struct {
	component string
	// run works until ctx ends and calls started once it does, with a view of what it knows or nil; an error says
	// that it could not be set up.
	run func(ctx context.Context, started func(informed.View)) error
	// useful waits, after that, until the cluster is of use as far as that is due to the worker. May be nil.
	useful func(context.Context) error
}

// start runs a worker and returns when it is of use, or why it is not.
func (o Options) start(ctx, life context.Context, w worker) error {
	o.Changed(w.component, protocol.StateStarting)
	started, ended := make(chan struct{}), make(chan error, 1)
	o.Go(func() {
		err := w.run(o.logging(life, w.component), func(view informed.View) {
			if view != nil {
				o.See(view)
			}
			close(started)
		})
		if err == nil {
			err = errEnded
		}
		ended <- err
		o.end(life, w.component, started, err)
	})
	select {
	case <-started:
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if w.useful != nil {
		if err := w.useful(ctx); err != nil {
			return err
		}
	}
	o.Changed(w.component, protocol.StateReady)
	return nil
}

// end tells of a worker's end, which before that of life is a failure: of the start, or, once it has started, of its
// own.
func (o Options) end(life context.Context, component string, started <-chan struct{}, err error) {
	if life.Err() != nil {
		o.Changed(component, protocol.StateStopped)
		return
	}
	select {
	case <-started:
		o.Failed(&protocol.ComponentError{Component: component, Err: err})
	default:
	}
}

// logging makes what is logged on behalf of ctx go to the component's log.
func (o Options) logging(ctx context.Context, component string) context.Context {
	if o.Logger == nil {
		return ctx
	}
	return klog.NewContext(ctx, logr.FromSlogHandler(o.Logger(component).Handler()))
}

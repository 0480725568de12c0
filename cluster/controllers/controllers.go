// Package controllers runs the stock controllers that an operator meets: workloads,
// Jobs, garbage collection, namespaces, endpoints, service accounts, quotas, volumes, nodes,
// certificates; and a few of our own for what a real cluster has from its cloud and its drivers.
//
// Each [Controller] is a value, in [All]: a name and a constructor around one upstream constructor, with the upstream
// default settings or, where those are made for a large cluster, shorter periods. docs/reference/cluster-contents.md
// shows what users see of each. The wiring is our own and not that of
// k8s.io/kubernetes/cmd/kube-controller-manager/app/controllermanager.go, for three reasons: that one registers
// process-wide names and so works only once per process; it links every controller there is, with cloud and volume
// plug-ins; and it fixes periods that make sense for a large cluster, such as 30 seconds until the garbage collector
// notices a new CRD and five until a namespace is torn down.
//
//	err := controllers.Run(ctx, controllers.Config{Client: loopback, …}, controllers.All())
package controllers

import (
	"context"
	"crypto"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	cached "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/informed"
)

// A Controller is one control loop.
type Controller struct {
	// Name is the upstream one, from k8s.io/kubernetes/cmd/kube-controller-manager/names,
	// where there is one.
	Name string
	// New sets the loop up, which must not block, and returns what runs it.
	New func(context.Context, *Deps) (Loop, error)
}

// A Loop runs until its context ends.
type Loop func(context.Context)

// Config is what the controllers need of their cluster.
type Config struct {
	Client            *rest.Config  // all rights, no limits
	RootCA            []byte        // PEM, published to every namespace
	CAFile, CAKeyFile string        // the authority that signs approved certificate requests; may be empty
	ServiceAccountKey crypto.Signer // signs the tokens of token Secrets
	Volumes           VolumeData    // what is in volumes; nil without real nodes
	// Host has the addresses of load balancers and Ingresses on this machine; empty where nothing answers.
	Host hostaddress.Range
	// Listen makes what listens to them, before the informers that it follows start. May be nil.
	Listen func(informers.SharedInformerFactory) (Loop, error)
}

// Deps is what the constructors share. It stands where upstream has a ControllerContext.
type Deps struct {
	Config
	Informers informers.SharedInformerFactory
	// Generic gives typed informers where there are types, metadata ones elsewhere.
	Generic informerfactory.InformerFactory
	Mapper  *restmapper.DeferredDiscoveryRESTMapper
	// Started is closed once the informers run.
	Started chan struct{}

	metadata metadata.Interface
	factory  *factory                       // the same as Generic
	graph    *garbagecollector.GraphBuilder // nil until there is a garbage collector
}

// resync is how often informers hand out everything again.
const resync = 12 * time.Hour

func resyncPeriod() time.Duration { return resync }

// newDeps makes what all controllers share; nothing runs yet.
func newDeps(cfg Config) (*Deps, error) {
	d := &Deps{Config: cfg, Started: make(chan struct{})}
	client, err := d.client("shared-informers")
	if err != nil {
		return nil, err
	}
	if d.metadata, err = metadata.NewForConfig(d.config("metadata-informers")); err != nil {
		return nil, fmt.Errorf("make the metadata client: %w", err)
	}
	d.Informers = informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithTransform(dropManagedFields))
	d.factory = newFactory(d.Informers, d.metadata)
	d.Generic = d.factory
	d.Mapper = restmapper.NewDeferredDiscoveryRESTMapper(cached.NewMemCacheClient(client.Discovery()))
	return d, nil
}

// config is a client configuration that names its controller in the user agent.
func (d *Deps) config(name string) *rest.Config {
	return rest.AddUserAgent(rest.CopyConfig(d.Client), name)
}

// client speaks protobuf, which costs a fraction of JSON.
func (d *Deps) client(name string) (kubernetes.Interface, error) {
	config := d.config(name)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make the client of %s: %w", name, err)
	}
	return client, nil
}

// dropManagedFields saves memory; no controller reads them.
func dropManagedFields(obj any) (any, error) {
	if o, err := meta.Accessor(obj); err == nil && o.GetManagedFields() != nil {
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// Run runs the controllers and returns when ctx has ended and they all have stopped.
// started is called once all of them run, with a view of what they know; an error says that
// one could not be set up.
func Run(ctx context.Context, cfg Config, list []Controller, started func(informed.View)) error {
	deps, err := newDeps(cfg)
	if err != nil {
		return err
	}
	loops := make([]Loop, 0, len(list))
	for _, c := range list {
		loop, err := c.New(ctx, deps)
		if err != nil {
			return fmt.Errorf("set up the %s: %w", c.Name, err)
		}
		loops = append(loops, loop)
	}
	always, err := deps.always()
	if err != nil {
		return err
	}
	loops = append(loops, always...)
	deps.Generic.Start(ctx.Done())
	close(deps.Started)
	var running sync.WaitGroup
	for _, loop := range loops {
		running.Go(func() { loop(ctx) })
	}
	started(deps.factory.stores)
	running.Wait()
	return nil
}

// always are the loops that run with every list of controllers.
func (d *Deps) always() ([]Loop, error) {
	var loops []Loop
	if d.Listen != nil {
		loop, err := d.Listen(d.Informers)
		if err != nil {
			return nil, fmt.Errorf("listen for Services: %w", err)
		}
		loops = append(loops, loop)
	}
	if d.Volumes != nil {
		loop, err := newVolumeCleaner(d)
		if err != nil {
			return nil, fmt.Errorf("look after the data of volumes: %w", err)
		}
		loops = append(loops, loop)
	}
	return loops, nil
}

// together makes one loop of several.
func together(loops ...Loop) Loop {
	return func(ctx context.Context) {
		var running sync.WaitGroup
		for _, loop := range loops {
			running.Go(func() { loop(ctx) })
		}
		running.Wait()
	}
}

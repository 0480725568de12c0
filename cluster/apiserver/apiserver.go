// Package apiserver runs the stock kube-apiserver inside this process.
//
// It is the upstream server, assembled by the upstream code from the upstream
// command-line options; what differs from `kube-apiserver` is in [New] and each
// difference says why. Its upstream counterpart is k8s.io/kubernetes/cmd/kube-apiserver/app/server.go.
//
//	server, err := apiserver.New(ctx, apiserver.Options{…})
//	go func() { failed <- server.Run(ctx) }()
//	err = server.WaitReady(ctx)
//
// Besides its TLS listener on loopback the server is reachable in process: [Server.Loopback] is a client configuration
// with all rights that leads to the complete handler chain without a connection. The server's own clients go that way,
// too. [Server.HandlerAs] serves requests on behalf of one user, who is decided by this process.
//
// It serves metrics.k8s.io, too, which elsewhere is metrics-server's: see package metricsapi.
//
// The Endpoints of the Service default/kubernetes are not written: the API refuses
// loopback addresses in them, since 1.37 the reconciler that writes them ends the
// process over one, and nothing here reads them (simulated pods make no
// connections; the server itself resolves kubernetes.default.svc to its own address).
package apiserver

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/server/egressselector"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	metricsfeatures "k8s.io/component-base/metrics/features"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"

	"github.com/slipway-dev/slipway/cluster/authorship"
	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/inprocess"
	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/pki"
)

// ServiceRange is where Services get their addresses. The seed holds the
// allocations of its first address.
const ServiceRange = "10.0.0.0/16"

// slowHooks wait a second before their first try. What they write is part of the seed.
var slowHooks = []string{
	rbacrest.PostStartHookName,                     // roles and bindings
	"scheduling/bootstrap-system-priority-classes", // k8s.io/kubernetes/pkg/registry/scheduling/rest
}

// Options says how a server is set up.
type Options struct {
	Dir        string       // for files that the server's flags name
	Listener   net.Listener // on loopback; the server closes it
	Etcd       Dialer       // connects to etcd
	EtcdPrefix string       // below which all keys lie
	Keys       pki.Files
	Seeded     bool     // the store holds the seed, so the hooks that write it are left out
	Flags      []string // further flags of kube-apiserver, applied last
	// Inside connects to pods and kubelets of real nodes; nil if nodes are simulated.
	Inside network.Inside
	// Large is called when a request brings a large object, whose handling leaves many times its size as garbage. May
	// be nil.
	Large func()
	// Calls knows who makes the writes; nil: nothing does.
	Calls *authorship.Calls
}

// A Dialer makes connections; that of package etcd is one.
type Dialer interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Server is an assembled API server.
type Server struct {
	aggregator *aggregator.APIAggregator
	prepared   interface{ Run(context.Context) error }
	front      *front
	inside     *inprocess.Front // how clients in this process reach it
	loopback   *rest.Config
	informers  informers.SharedInformerFactory // of admission, authorization and allocators
}

// prepareProcess sets what is global in the upstream packages. Several servers in
// one process would otherwise refuse to apply the logging configuration again. Native histograms, which are
// on by default, would keep up to 160 buckets for each of thousands of series; the classic ones stay.
var prepareProcess = sync.OnceValue(func() error {
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	return utilfeature.DefaultMutableFeatureGate.OverrideDefault(metricsfeatures.NativeHistograms, false)
})

// New assembles a server. Flags that it does not know give a [*FlagError].
func New(ctx context.Context, o Options) (*Server, error) {
	if err := prepareProcess(); err != nil {
		return nil, fmt.Errorf("prepare the process for API servers: %w", err)
	}
	completed, err := completeOptions(ctx, o)
	if err != nil {
		return nil, err
	}
	inside := inprocess.New()
	config, err := newConfig(completed, inside)
	if err != nil {
		return nil, fmt.Errorf("configure the API server: %w", err)
	}
	if err := joinNetwork(ctx, config, o); err != nil {
		return nil, err
	}
	EaseFirstUse(config)
	if o.Calls != nil {
		observeStorage(config, o.Calls)
	}
	if o.Seeded {
		config.KubeAPIs.ControlPlane.Generic.DisabledPostStartHooks.Insert(slowHooks...)
	}
	return assemble(config, inside, o)
}

func assemble(config *app.Config, inside *inprocess.Front, o Options) (*Server, error) {
	versioned := config.KubeAPIs.ControlPlane.VersionedInformers
	completed, err := config.Complete()
	if err != nil {
		return nil, fmt.Errorf("complete the API server's configuration: %w", err)
	}
	documents := deferDocuments(config)
	chain, err := app.CreateServerChain(completed)
	if err != nil {
		return nil, fmt.Errorf("create the API server: %w", err)
	}
	if err := documents.attach(chain.GenericAPIServer); err != nil {
		return nil, fmt.Errorf("defer the OpenAPI documents: %w", err)
	}
	if err := addMetrics(documents.groups, chain.GenericAPIServer, versioned); err != nil {
		return nil, err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return nil, fmt.Errorf("prepare the API server: %w", err)
	}
	loopback := rest.CopyConfig(chain.GenericAPIServer.LoopbackClientConfig)
	loopback.QPS, loopback.Burst = -1, 0 // the clients are ours: no limits
	front := newFront(chain.GenericAPIServer, o.Large, o.Calls)
	inside.Serve(own{front})
	return &Server{aggregator: chain, prepared: prepared, front: front, inside: inside, loopback: loopback, informers: versioned}, nil
}

func completeOptions(ctx context.Context, o Options) (options.CompletedOptions, error) {
	s := options.NewServerRunOptions()
	if o.Inside != nil {
		addRefuser(s)
		addPolicyWarner(s)
	}
	if o.Calls != nil {
		plugins := s.Admission.GenericAdmission
		plugins.Decorators = append(plugins.Decorators, admission.DecoratorFunc(authorship.Admission))
	}
	if err := parseFlags(s, o); err != nil {
		return options.CompletedOptions{}, err
	}
	// The hook is meant for proxies on the way to etcd.
	s.Etcd.StorageConfig.Transport.EgressLookup = func(egressselector.NetworkContext) (utilnet.DialFunc, error) {
		return o.Etcd.Dial, nil
	}
	s.SecureServing.Listener = o.Listener
	s.SecureServing.BindPort = o.Listener.Addr().(*net.TCPAddr).Port
	s.SecureServing.ExternalAddress = net.IPv4(127, 0, 0, 1)
	if err := s.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return options.CompletedOptions{}, &FlagError{Err: err}
	}
	completed, err := s.Complete(ctx)
	if err != nil {
		return options.CompletedOptions{}, fmt.Errorf("complete the API server's options: %w", err)
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return options.CompletedOptions{}, &FlagError{Err: utilerrors.NewAggregate(errs)}
	}
	return completed, nil
}

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	defer s.inside.Close()
	return s.front.run(ctx, s.prepared)
}

// Loopback is a client configuration in the group system:masters, without limits.
func (s *Server) Loopback() *rest.Config { return rest.CopyConfig(s.loopback) }

// Client is a client with all rights for any path of the API.
func (s *Server) Client() (*rest.RESTClient, error) {
	client, err := rest.UnversionedRESTClientFor(unversioned(s.Loopback()))
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return client, nil
}

// Known is an [informed.View] of what the server itself follows through its own API.
func (s *Server) Known() informed.Stores {
	stores := informed.Typed(s.informers)
	services := s.aggregator.APIRegistrationInformers.Apiregistration().V1().APIServices()
	stores.Add(apiregistration.Resource("apiservices"), services.Informer().GetStore())
	return stores
}

// readyPoll is short because a start lasts a fraction of a second.
const readyPoll = 3 * time.Millisecond

// WaitReady returns when /readyz says so, or when ctx ends.
func (s *Server) WaitReady(ctx context.Context) error {
	config := s.Loopback()
	config.Timeout = time.Second
	client, err := rest.UnversionedRESTClientFor(unversioned(config))
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	var last error
	for {
		if last = client.Get().AbsPath("/readyz").MaxRetries(0).Do(ctx).Error(); last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the API server, whose last answer was %w: %w", last, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

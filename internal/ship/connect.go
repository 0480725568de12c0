package ship

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/report"
)

// Kubeconfig says which cluster is meant.
type Kubeconfig struct {
	Path    string // a kubeconfig file; empty means List, else ~/.kube/config
	List    string // the value of KUBECONFIG
	Context string // a context of it; empty means its current one
}

// load reads the configuration and the namespace that unnamespaced requests mean.
func (k Kubeconfig) load() (*rest.Config, string, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: k.Path, Precedence: filepath.SplitList(k.List)}
	if k.List == "" {
		rules.Precedence = []string{clientcmd.RecommendedHomeFile}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.Context}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if err := k.checkContext(loader); err != nil {
		return nil, "", err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", k.explain(err)
	}
	namespace, _, err := loader.Namespace()
	return config, namespace, err
}

// checkContext looks for k's context, whose absence the loader tells in words only.
func (k Kubeconfig) checkContext(loader clientcmd.ClientConfig) error {
	raw, err := loader.RawConfig()
	if err != nil {
		return k.explain(err)
	}
	if _, ok := raw.Contexts[k.Context]; k.Context == "" || ok {
		return nil
	}
	if len(raw.Contexts) == 0 {
		return k.explain(clientcmd.ErrEmptyConfig)
	}
	return &report.Error{
		What:  fmt.Sprintf("the kubeconfig has no context %q", k.Context),
		Where: k.where(),
		Hint:  "it has " + strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "),
		Next:  "slipway kubectl config get-contexts",
	}
}

// explain says why no cluster is configured.
func (k Kubeconfig) explain(err error) error {
	e := &report.Error{What: "the kubeconfig cannot be used", Where: k.where(), Err: err}
	if clientcmd.IsEmptyConfig(err) || errors.Is(err, fs.ErrNotExist) {
		e.What = "no cluster is configured"
		e.Hint = "expected a kubeconfig at --kubeconfig, in KUBECONFIG or at " + clientcmd.RecommendedHomeFile
		e.Next = startCommand
		e.Err = nil // it speaks of variables that nobody uses
	}
	return e
}

// where names the file or files that were looked at.
func (k Kubeconfig) where() string {
	for _, place := range []string{k.Path, k.List} {
		if place != "" {
			return place
		}
	}
	return clientcmd.RecommendedHomeFile
}

// startCommand is what to type when there is no cluster.
const startCommand = "slipway cluster start"

// A Cluster is where objects go. It is safe for use by several goroutines.
type Cluster struct {
	server    string
	config    *rest.Config
	namespace string // of namespaced objects that name none
	objects   dynamic.Interface
	quiet     dynamic.Interface // to look at others' objects: warnings about their kinds are not for this user
	catalog   *catalog
	handler   report.Handler
}

// Connect returns the cluster that k means. Its events, and the warnings of its
// server, go to h. No request is made yet.
func Connect(k Kubeconfig, h report.Handler) (*Cluster, error) {
	config, namespace, err := k.load()
	if err != nil {
		return nil, err
	}
	return New(config, namespace, h)
}

// New returns the cluster behind config; namespace is that of namespaced
// objects which name none.
func New(config *rest.Config, namespace string, h report.Handler) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the server limits its clients itself (priority and fairness)
	config.UserAgent = FieldManager
	config.DisableCompression = config.DisableCompression || isHere(config.Host) // to compress takes longer than to transfer
	config.WarningHandlerWithContext = warnings{h}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, &report.Error{What: "the kubeconfig cannot be used", Where: config.Host, Err: err}
	}
	objects, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, &report.Error{What: "the kubeconfig cannot be used", Where: config.Host, Err: err}
	}
	config.WarningHandlerWithContext = rest.NoWarnings{}
	quiet, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, &report.Error{What: "the kubeconfig cannot be used", Where: config.Host, Err: err}
	}
	config.WarningHandlerWithContext = warnings{h}
	catalog, err := newCatalog(config, client)
	if err != nil {
		return nil, &report.Error{What: "the kubeconfig cannot be used", Where: config.Host, Err: err}
	}
	return &Cluster{server: config.Host, config: config, namespace: namespace, objects: objects, quiet: quiet, catalog: catalog, handler: h}, nil
}

// isHere reports whether a server is on this machine.
func isHere(server string) bool {
	at, err := url.Parse(server)
	return err == nil && reference.OnLoopback(at.Host)
}

// silently is the cluster for requests on trial: warnings come with those that follow.
func (c *Cluster) silently() *Cluster {
	silent := *c
	silent.objects = c.quiet
	return &silent
}

// Server is the URL of the cluster's API server.
func (c *Cluster) Server() string { return c.server }

// warnings hands on what the server warns of.
type warnings struct{ handler report.Handler }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext; 299 is
// the only code that Kubernetes uses.
func (w warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _ string, text string) {
	if code == 299 && text != "" {
		w.handler.Handle(report.Warning{Text: text})
	}
}

// pingTimeout is more than a healthy cluster needs to answer, wherever it is.
const pingTimeout = 10 * time.Second

// Ping asks the cluster whether it is there; that it is not is a [report.Error]
// that says how to get one.
func (c *Cluster) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pingTimeout, errNoAnswer)
	defer cancel()
	return c.explain(ctx, c.catalog.get(ctx, "/version", &struct{}{}))
}

// Certificate returns the certificate whose key the API server proved to have in the handshake of a request; nil if the
// connection is not encrypted. The request goes the way that all others go, a proxy included.
func (c *Cluster) Certificate(ctx context.Context) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pingTimeout, errNoAnswer)
	defer cancel()
	certificate, err := c.catalog.certificate(ctx)
	return certificate, c.explain(ctx, err)
}

// errNoAnswer is the cause of a ping that ended by itself.
var errNoAnswer = errors.New("no answer within " + pingTimeout.String())

package apiserver

import (
	"crypto/rand"
	"fmt"
	"time"

	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	openapifeatures "k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/kubeapiserver"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"

	"github.com/slipway-dev/slipway/cluster/inprocess"
	"github.com/slipway-dev/slipway/cluster/metricsapi"
)

// configuration is a server's configuration while it is being made of the options.
//
// Upstream's own way leads over an RSA key and a certificate for the connections of the server to itself, which it
// makes at each start, and which are a fifth of the CPU time of a start. Nobody makes such connections here: who is in
// this process, the server itself too, asks its handler, by package inprocess, with the same token as upstream. Besides
// that the steps are those of NewConfig in k8s.io/kubernetes/cmd/kube-apiserver/app/config.go and BuildGenericConfig in
// k8s.io/kubernetes/pkg/controlplane/apiserver/config.go, whose order counts: several look at what the ones before have
// set.
type configuration struct {
	options   options.CompletedOptions
	generic   *server.Config
	storage   *storage.DefaultStorageFactory
	client    kubernetes.Interface // of the server for itself
	informers informers.SharedInformerFactory
}

func newConfig(o options.CompletedOptions, front *inprocess.Front) (*app.Config, error) {
	c := configuration{options: o}
	for _, step := range []func() error{
		func() error { return c.serve(front) }, c.follow, c.enable, c.store, c.authenticate, c.authorize,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.generic.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis")
	return c.chain()
}

// serve sets where and how the server listens, and how it asks itself.
func (c *configuration) serve(front *inprocess.Front) error {
	codecs := legacyscheme.Codecs
	if utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		codecs = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	c.generic = server.NewConfig(codecs)
	c.generic.Flagz = c.options.Flagz
	c.generic.MergedResourceConfig = controlplane.DefaultAPIResourceConfigSource()
	c.generic.LongRunningFunc = LongRunning()
	if err := c.options.GenericServerRunOptions.ApplyTo(c.generic); err != nil {
		return err
	}
	if err := c.options.SecureServing.SecureServingOptions.ApplyTo(&c.generic.SecureServing); err != nil {
		return err
	}
	c.generic.LoopbackClientConfig = loopback("https://"+c.options.SecureServing.Listener.Addr().String(), front)
	return nil
}

// LongRunning returns what reports whether a request lasts until one side ends it, as watches do.
func LongRunning() request.LongRunningRequestCheck {
	return filters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"), sets.NewString("attach", "exec", "proxy", "log", "portforward"),
	)
}

// loopback is a client configuration with all rights, which the server gives to whoever knows the token.
func loopback(host string, front *inprocess.Front) *rest.Config {
	c := &rest.Config{
		Host: host, BearerToken: rand.Text(), QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"},
	}
	c.Wrap(front.Instead)
	return c
}

// follow sets up what the server follows through its own API.
func (c *configuration) follow() error {
	const resync = 10 * time.Minute
	client, err := kubernetes.NewForConfig(c.generic.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("make a client of the API server for itself: %w", err)
	}
	c.client = client
	c.informers = informers.NewSharedInformerFactoryWithOptions(client, resync,
		informers.WithTransform(dropManagedFields), informers.WithInformerName(c.options.InformerName))
	return nil
}

// dropManagedFields saves memory; the server does not read them there.
func dropManagedFields(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil && o.GetManagedFields() != nil {
		o.SetManagedFields(nil)
	}
	return object, nil
}

// enable decides which parts of the API there are and how they are described.
func (c *configuration) enable() error {
	o, g := c.options, c.generic
	if err := o.Features.ApplyTo(g, c.client, c.informers); err != nil {
		return err
	}
	if err := o.APIEnablement.ApplyTo(g, g.MergedResourceConfig, legacyscheme.Scheme); err != nil {
		return err
	}
	if err := o.EgressSelector.ApplyTo(g); err != nil {
		return err
	}
	if err := o.Traces.ApplyTo(g.EgressSelector, g); err != nil {
		return err
	}
	definitions := openapifeatures.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	names := openapi.NewDefinitionNamer(legacyscheme.Scheme, extensions.Scheme, aggregatorscheme.Scheme, metricsapi.Kinds())
	const title = "Kubernetes"
	g.OpenAPIConfig = server.DefaultOpenAPIConfig(definitions, names)
	g.OpenAPIConfig.Info.Title = title
	g.OpenAPIV3Config = server.DefaultOpenAPIV3Config(definitions, names)
	g.OpenAPIV3Config.Info.Title = title
	return nil
}

// store says where the objects are kept.
func (c *configuration) store() error {
	etcd, g := c.options.Etcd, c.generic
	if g.EgressSelector != nil {
		etcd.StorageConfig.Transport.EgressLookup = g.EgressSelector.Lookup
	}
	etcd.StorageConfig.Transport.TracerProvider = g.TracerProvider
	config := kubeapiserver.NewStorageFactoryConfigEffectiveVersion(g.EffectiveVersion)
	config.APIResourceConfig = g.MergedResourceConfig
	config.DefaultResourceEncoding.SetEffectiveVersion(g.EffectiveVersion)
	factory, err := config.Complete(etcd).New()
	if err != nil {
		return err
	}
	factory.StorageConfig.StorageObjectCountTracker = g.StorageObjectCountTracker
	c.storage = factory
	return etcd.ApplyWithStorageFactoryTo(factory, g)
}

// authenticate decides who the sender of a request is. Where this process has decided it, the server's own ways are not
// asked.
func (c *configuration) authenticate() error {
	g := c.generic
	if err := c.options.Authentication.ApplyTo(wait.ContextForChannel(g.DrainedNotify()), &g.Authentication, g.SecureServing, g.EgressSelector,
		g.OpenAPIConfig, g.OpenAPIV3Config, c.client, c.informers, g.APIServerID); err != nil {
		return err
	}
	g.Authentication.Authenticator = decided{g.Authentication.Authenticator}
	return nil
}

// authorize decides who may do what, and what is noted of it.
func (c *configuration) authorize() error {
	g := c.generic
	life := wait.ContextForChannel(g.DrainedNotify())
	authorizer, rules, rbac, err := controlplaneapiserver.BuildAuthorizer(life, c.options.CompletedOptions, g.EgressSelector, g.APIServerID, c.informers)
	if err != nil {
		return fmt.Errorf("authorization: %w", err)
	}
	g.Authorization.Authorizer, g.RuleResolver = authorizer, rules
	if c.options.Authorization != nil && !rbac {
		g.DisabledPostStartHooks.Insert(rbacrest.PostStartHookName)
	}
	return c.options.Audit.ApplyTo(g)
}

// chain makes the configurations of the three servers that stand behind each other.
func (c *configuration) chain() (*app.Config, error) {
	o := c.options
	groups, services, initializers, err := app.CreateKubeAPIServerConfig(o, c.generic, c.informers, c.storage)
	if err != nil {
		return nil, err
	}
	generic, informers, proxy := *groups.ControlPlane.Generic, groups.ControlPlane.VersionedInformers, groups.ControlPlane.ProxyTransport
	resolver := webhook.NewDefaultAuthenticationInfoResolverWrapper(proxy, generic.EgressSelector, generic.LoopbackClientConfig, generic.TracerProvider)
	custom, err := controlplaneapiserver.CreateAPIExtensionsConfig(generic, informers, initializers, o.CompletedOptions, o.MasterCount, services, resolver)
	if err != nil {
		return nil, err
	}
	front, err := controlplaneapiserver.CreateAggregatorConfig(generic, o.CompletedOptions, informers, services, proxy, groups.ControlPlane.PeerProxy, initializers)
	if err != nil {
		return nil, err
	}
	return &app.Config{Options: o, KubeAPIs: groups, ApiExtensions: custom, Aggregator: front}, nil
}

// Package metricsapi serves metrics.k8s.io/v1beta1, which `kubectl top` and the autoscaler of pods read. Elsewhere that
// is the work of metrics-server, an API server of its own with an APIService; here the server of the built-in groups
// serves the group, so that it is there when the cluster is.
//
//	err := metricsapi.Install(server, metricsapi.Options{Pods: …, Nodes: …, Client: loopback})
//	…
//	err = metricsapi.Ensure(ctx, loopback) // once the server runs: the APIService and a role
//
// Figures of real nodes come from their kubelets, by the API server's way to them, and only when a client asks: see
// [kubelets]. Those of simulated pods are what their annotations say: see package simnode/stage. A simulated node uses
// what its pods use. Nodes that are not Ready have no figures, nor have containers that started within the last second.
//
// Group, version, names and the shape of the answers are those of metrics-server
// (https://github.com/kubernetes-sigs/metrics-server). A user may install that, or another: its APIService replaces
// this one.
package metricsapi

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/server"
	corelisters "k8s.io/client-go/listers/core/v1"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/metrics"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// version is the only one, as of metrics-server.
var version = v1beta1.SchemeGroupVersion

// priority is that of metrics-server's APIService, of the group and of the version in it: "pods" and "nodes" are those
// of the core group unless a client names the group.
const priority = 100

// Options say where the figures come from.
type Options struct {
	Pods   corelisters.PodLister
	Nodes  corelisters.NodeLister
	Client *clientrest.Config // may read kubelets through the API server
}

// Kinds has the kinds of the group alone, which the OpenAPI documents name. A scheme for serving would add the group to
// what those documents contain about the kinds that all groups have.
func Kinds() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(version, &v1beta1.NodeMetrics{}, &v1beta1.NodeMetricsList{}, &v1beta1.PodMetrics{}, &v1beta1.PodMetricsList{})
	return s
}

// newScheme is for serving. Upstream's install would add a version that is not served.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(metrics.AddToScheme(s))
	utilruntime.Must(v1beta1.AddToScheme(s))
	utilruntime.Must(s.SetVersionPriority(version))
	generic := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(s, generic)
	s.AddUnversionedTypes(generic, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return s
}

// Install adds the group to a server that does not run yet.
func Install(to *server.GenericAPIServer, o Options) error {
	read, err := reader(o.Client)
	if err != nil {
		return err
	}
	f := &figures{pods: o.Pods, nodes: o.Nodes, kubelets: newKubelets(read)}
	scheme := newScheme()
	info := server.NewDefaultAPIGroupInfo(metrics.GroupName, scheme, metav1.ParameterCodec, serializer.NewCodecFactory(scheme))
	info.VersionedResourcesStorageMap[version.Version] = map[string]rest.Storage{"pods": podStorage{figures: f}, "nodes": nodeStorage{figures: f}}
	if err := to.InstallAPIGroup(&info); err != nil {
		return fmt.Errorf("install the metrics API: %w", err)
	}
	if to.AggregatedDiscoveryGroupManager != nil {
		to.AggregatedDiscoveryGroupManager.SetGroupVersionPriority(metav1.GroupVersion(version), priority, priority)
	}
	return nil
}

package informed_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/informed"
)

func TestRevisions(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	old, current := cache.NewStore(cache.MetaNamespaceKeyFunc), cache.NewStore(cache.MetaNamespaceKeyFunc)
	stores := informed.Stores{}
	stores.Add(pods, old)
	stores.Add(pods, current)
	for revision, store := range map[string]cache.Store{"7": old, "12": current} {
		if err := store.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", ResourceVersion: revision}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := stores.Revisions(pods, "ns", "pod"); !slices.Equal(got, []int64{7, 12}) {
		t.Errorf("revisions %v", got)
	}
	if got := stores.Revisions(pods, "ns", "other"); !slices.Equal(got, []int64{0, 0}) {
		t.Errorf("revisions of an unknown pod %v", got)
	}
	if got := stores.Revisions(schema.GroupResource{Resource: "nodes"}, "", "node"); len(got) != 0 {
		t.Errorf("revisions of what nobody follows %v", got)
	}
}

// TestTyped finds informers by the types of their objects, whose plurals are a guess.
func TestTyped(t *testing.T) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	started := map[schema.GroupResource]cache.Store{
		{Resource: "pods"}:      factory.Core().V1().Pods().Informer().GetStore(),
		{Resource: "endpoints"}: factory.Core().V1().Endpoints().Informer().GetStore(),
		{Group: "storage.k8s.io", Resource: "storageclasses"}:            factory.Storage().V1().StorageClasses().Informer().GetStore(),
		{Group: "storage.k8s.io", Resource: "csistoragecapacities"}:      factory.Storage().V1().CSIStorageCapacities().Informer().GetStore(),
		{Group: "networking.k8s.io", Resource: "networkpolicies"}:        factory.Networking().V1().NetworkPolicies().Informer().GetStore(),
		{Group: "networking.k8s.io", Resource: "ingresses"}:              factory.Networking().V1().Ingresses().Informer().GetStore(),
		{Group: "networking.k8s.io", Resource: "ipaddresses"}:            factory.Networking().V1().IPAddresses().Informer().GetStore(),
		{Group: "policy", Resource: "poddisruptionbudgets"}:              factory.Policy().V1().PodDisruptionBudgets().Informer().GetStore(),
		{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}:   factory.Rbac().V1().ClusterRoles().Informer().GetStore(),
		{Group: "scheduling.k8s.io", Resource: "priorityclasses"}:        factory.Scheduling().V1().PriorityClasses().Informer().GetStore(),
		{Group: "autoscaling", Resource: "horizontalpodautoscalers"}:     factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer().GetStore(),
		{Group: "flowcontrol.apiserver.k8s.io", Resource: "flowschemas"}: factory.Flowcontrol().V1().FlowSchemas().Informer().GetStore(),
	}
	stop := make(chan struct{})
	close(stop)
	factory.Start(stop)
	factory.Shutdown()
	factory.Core().V1().Secrets().Informer() // is not started

	stores := informed.Typed(factory)
	for resource, store := range started {
		if got := stores[resource]; len(got) != 1 || got[0] != store {
			t.Errorf("%v: %v", resource, got)
		}
	}
	if len(stores) != len(started) {
		t.Errorf("%d stores, want %d", len(stores), len(started))
	}
}

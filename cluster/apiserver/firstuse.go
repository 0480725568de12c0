package apiserver

import (
	"context"
	"errors"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// EaseFirstUse makes custom resources usable from the moment at which their CRD is established. Upstream
// has two pauses there, for the sake of others:
//
//   - Who creates an object within two seconds after the CRD was established sleeps for two seconds, so that all
//     servers of a cluster know the CRD. Here is one server, which stores the time a little earlier: see [backdated].
//   - Who lists or watches before the storage has read what there is, which it does when it is first used and takes it
//     milliseconds, is sent away for a second. Here the client waits those milliseconds: see [patient].
//
// The upstream counterparts are in k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go and
// k8s.io/apiserver/pkg/storage/cacher.
func EaseFirstUse(config *app.Config) {
	definitions, objects := &config.ApiExtensions.GenericConfig.RESTOptionsGetter, &config.ApiExtensions.ExtraConfig.CRDRESTOptionsGetter
	*definitions = decorated{*definitions, func(_ schema.GroupResource, _ string, s storage.Interface) storage.Interface { return backdated{s} }}
	*objects = decorated{*objects, func(_ schema.GroupResource, _ string, s storage.Interface) storage.Interface { return patient{s} }}
}

// decorated puts something round each storage that the options lead to. It gets the resource and the beginning of its
// keys.
type decorated struct {
	generic.RESTOptionsGetter
	wrap func(schema.GroupResource, string, storage.Interface) storage.Interface
}

// GetRESTOptions returns the same options with another storage.
func (d decorated) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := d.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	inner := options.Decorator
	options.Decorator = func(
		config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
		object, list func() runtime.Object, attributes storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		s, destroy, err := inner(config, prefix, key, object, list, attributes, trigger, indexers)
		if err != nil {
			return nil, nil, err
		}
		return d.wrap(resource, prefix, s), destroy, nil
	}
	return options, nil
}

// backdated stores CRDs as having been established earlier than they were, so early that the server does not think that
// others may not know them yet.
type backdated struct{ storage.Interface }

// backdate is more than upstream's two seconds even when fractions of a second are cut off.
const backdate = 4 * time.Second

// GuaranteedUpdate is how the status is written.
func (s backdated) GuaranteedUpdate(
	ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	earlier := func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
		output, ttl, err := update(input, meta)
		if crd, ok := output.(*apiextensions.CustomResourceDefinition); ok && err == nil {
			backdateEstablished(crd, time.Now())
		}
		return output, ttl, err
	}
	return s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, earlier, cached)
}

// backdateEstablished does not ask for the condition's status, because upstream does not: who creates while the server
// has not noticed itself that the CRD is established sleeps for the time since when it was not.
func backdateEstablished(crd *apiextensions.CustomResourceDefinition, now time.Time) {
	earlier := now.Add(-backdate)
	for i := range crd.Status.Conditions {
		c := &crd.Status.Conditions[i]
		if c.Type == apiextensions.Established && c.LastTransitionTime.After(earlier) {
			c.LastTransitionTime.Time = earlier
		}
	}
}

// patient holds lists and watches until the storage can answer them, for a while.
type patient struct{ storage.Interface }

const (
	patience     = time.Second
	patiencePoll = time.Millisecond
)

// GetList lists once the storage is ready, or reports that it is not, as it would have.
func (s patient) GetList(ctx context.Context, key string, options storage.ListOptions, list runtime.Object) error {
	s.await(ctx)
	return s.Interface.GetList(ctx, key, options, list)
}

// Watch watches once the storage is ready, or reports that it is not, as it would have.
func (s patient) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	s.await(ctx)
	return s.Interface.Watch(ctx, key, options)
}

// await returns when the storage is ready, or it is of no use to wait longer.
func (s patient) await(ctx context.Context) {
	if s.ready() {
		return
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	tick := time.NewTicker(patiencePoll)
	defer tick.Stop()
	for !s.ready() {
		select {
		case <-tick.C:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s patient) ready() bool {
	return !errors.Is(s.ReadinessCheck(), storage.ErrStorageNotReady)
}

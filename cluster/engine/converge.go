package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/cluster/informed"
	"github.com/slipway-dev/slipway/cluster/rollback"
)

const (
	// convergePoll is short because a reset lasts a few milliseconds, and asking takes a tenth of one.
	convergePoll = time.Millisecond
	// convergeLimit bounds one wait. Nothing of it should ever take that long.
	convergeLimit = 10 * time.Second
	// convergeRequests bounds the requests under way.
	convergeRequests = 8
)

// changes are what a round of a reset did.
type changes rollback.Changes

// latest are the changed resources, each with its last revision.
func (c *changes) latest() map[schema.GroupVersionResource]int64 {
	latest := map[schema.GroupVersionResource]int64{}
	for _, objects := range [][]rollback.Changed{c.Removed, c.Restored} {
		for _, o := range objects {
			latest[o.Resource] = max(latest[o.Resource], o.Revision)
		}
	}
	delete(latest, schema.GroupVersionResource{}) // none that somebody could list
	return latest
}

// definitions are the resources that come back with their CRDs, and those that go with them. Informers of
// either end and begin when they like.
func (c *changes) definitions() (back, gone definers) {
	back, gone = definers{}, definers{}
	for _, o := range c.Restored {
		if o.Established {
			back.add(o)
		}
	}
	for _, o := range c.Removed {
		gone.add(o)
	}
	for r := range back {
		delete(gone, r) // made anew, and restored
	}
	return back, gone
}

// definers are the CRDs of resources.
type definers map[schema.GroupVersionResource]rollback.Changed

func (d definers) add(crd rollback.Changed) {
	for _, r := range crd.Defines {
		d[r] = crd
	}
}

// converge returns when the API server's answers show what was changed, and when the
// informers in this process have noticed.
func (c *Cluster) converge(ctx context.Context, stores informed.Stores, made changes) error {
	ctx, cancel := context.WithTimeout(ctx, convergeLimit)
	defer cancel()
	back, gone := made.definitions()
	for _, set := range []definers{back, gone} {
		for r := range set {
			delete(stores, r.GroupResource())
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(convergeRequests)
	group.Go(func() error { return c.awaitInformers(ctx, maps.Clone(stores), made) })
	for resource, crd := range gone {
		group.Go(func() error { return c.awaitNotServed(ctx, resource, crd) })
	}
	for resource, crd := range back {
		group.Go(func() error { return c.awaitServed(ctx, resource, crd) })
	}
	for resource, revision := range made.latest() {
		followed := len(stores[resource.GroupResource()]) > 0 // by somebody who learns it from the server
		if _, goes := gone[resource]; !followed && !goes {
			group.Go(func() error { return c.awaitFresh(ctx, resource, revision) })
		}
	}
	return group.Wait()
}

// awaitFresh asks for a list that is not older than revision, which the server answers from its
// watch cache as soon as that is.
func (c *Cluster) awaitFresh(ctx context.Context, r schema.GroupVersionResource, revision int64) error {
	err := c.list(r).
		Param("resourceVersion", strconv.FormatInt(revision, 10)).
		Param("resourceVersionMatch", "NotOlderThan").
		Do(ctx).Error()
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil // nobody can see these objects
	}
	return err
}

// awaitNotServed returns when the server does not know the resource any more, or has its CRD again.
func (c *Cluster) awaitNotServed(ctx context.Context, r schema.GroupVersionResource, crd rollback.Changed) error {
	return c.await(ctx, crd, false, func() (bool, error) {
		return apierrors.IsNotFound(c.list(r).Do(ctx).Error()), nil // other errors pass
	})
}

// awaitServed returns when the server serves the resource and lists it in discovery, or when its CRD has gone
// again.
func (c *Cluster) awaitServed(ctx context.Context, r schema.GroupVersionResource, crd rollback.Changed) error {
	return c.await(ctx, crd, true, func() (bool, error) {
		if err := c.list(r).Do(ctx).Error(); apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) {
			return false, nil // any other error is for those who use it: its conversion webhook may not run
		}
		return c.discovered(ctx, r)
	})
}

// missesPerLook is how often something may be missed until the store is read again, some ten milliseconds.
const missesPerLook = 10

// await polls until everybody knows that the object o is there, or that it is not. It gives up when that is true no
// more: another program has deleted the object, or made it anew, which the next round of the reset is about.
func (c *Cluster) await(ctx context.Context, o rollback.Changed, there bool, yes func() (bool, error)) error {
	misses := 0
	return poll(ctx, convergePoll, func() (bool, error) {
		if ok, err := yes(); ok || err != nil {
			return ok, err
		}
		if misses++; misses%missesPerLook != 0 {
			return false, nil
		}
		is, err := c.store.Has(ctx, o.Key)
		return err == nil && is != there, err
	})
}

// aggregated is the media type of discovery's summary, by which clients map kinds to resources.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

func (c *Cluster) discovered(ctx context.Context, r schema.GroupVersionResource) (bool, error) {
	raw, err := c.admin.Get().AbsPath("/apis").SetHeader("Accept", aggregated).Do(ctx).Raw()
	if err != nil {
		return false, fmt.Errorf("discover resources: %w", err)
	}
	var summary apidiscovery.APIGroupDiscoveryList
	if err := json.Unmarshal(raw, &summary); err != nil {
		return false, fmt.Errorf("read what discovery says: %w", err)
	}
	for _, group := range summary.Items {
		for _, version := range group.Versions {
			for _, resource := range version.Resources {
				if r == (schema.GroupVersionResource{Group: group.Name, Version: version.Version, Resource: resource.Resource}) {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

func (c *Cluster) list(r schema.GroupVersionResource) *rest.Request {
	root := path.Join("/apis", r.Group, r.Version)
	if r.Group == "" {
		root = path.Join("/api", r.Version)
	}
	return c.admin.Get().AbsPath(root, r.Resource).Param("limit", "1").MaxRetries(0)
}

// awaitInformers returns when no informer in this process knows an object that was removed, and
// all know those that were restored.
func (c *Cluster) awaitInformers(ctx context.Context, stores informed.Stores, made changes) error {
	patient, cancel := context.WithTimeout(ctx, customPatience)
	defer cancel()
	for _, o := range made.Removed {
		if err := c.awaitNoticed(ctx, patient, stores, o, false, func() (bool, error) { return forgotten(stores, o), nil }); err != nil {
			return fmt.Errorf("%s is still known: %w", o.Key, err)
		}
	}
	for _, o := range made.Restored {
		if err := c.awaitNoticed(ctx, patient, stores, o, true, func() (bool, error) { return known(stores, o), nil }); err != nil {
			return fmt.Errorf("%s is not known: %w", o.Key, err)
		}
	}
	return nil
}

// customPatience bounds the wait for informers of a custom resource. Those that have found it missing, since its CRD
// was deleted for a while, ask for it again after up to half a minute (see ListAndWatch in
// k8s.io/client-go/tools/cache). They learn then what is there.
const customPatience = time.Second

// awaitNoticed returns when all informers know that an object is there, or that it is not. When patient has ended, it
// stops waiting for those of a custom resource, which do not follow it at present.
func (c *Cluster) awaitNoticed(ctx, patient context.Context, stores informed.Stores, o rollback.Changed, there bool, yes func() (bool, error)) error {
	if err := c.await(patient, o, there, yes); err == nil || ctx.Err() != nil || patient.Err() == nil {
		return err
	}
	custom, err := c.isCustom(ctx, o.Resource.GroupResource())
	if err != nil {
		return err
	}
	if custom {
		delete(stores, o.Resource.GroupResource())
		return c.awaitFresh(ctx, o.Resource, o.Revision)
	}
	return c.await(ctx, o, there, yes)
}

// isCustom reports whether a CRD defines a resource.
func (c *Cluster) isCustom(ctx context.Context, r schema.GroupResource) (bool, error) {
	err := c.list(crds).Name(r.String()).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// crds is where CRDs are.
var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// knowledge is what all parts of the cluster know.
func (c *Cluster) knowledge() informed.Stores {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := informed.Stores{}
	for _, view := range c.views {
		for resource, stores := range view() {
			for _, store := range stores {
				all.Add(resource, store)
			}
		}
	}
	return all
}

// forgotten also holds for an object that somebody made anew.
func forgotten(stores informed.Stores, o rollback.Changed) bool {
	for _, r := range stores.Revisions(o.Resource.GroupResource(), o.Namespace, o.Name) {
		if r > 0 && r < o.Revision {
			return false
		}
	}
	return true
}

// known does not count on all informers following all pods: some follow those that are not
// over, others those on their nodes.
func known(stores informed.Stores, o rollback.Changed) bool {
	some := o.Resource.Resource == "pods"
	for _, r := range stores.Revisions(o.Resource.GroupResource(), o.Namespace, o.Name) {
		if r < o.Revision && (r > 0 || !some) {
			return false
		}
	}
	return true
}

// poll asks until the answer is yes.
func poll(ctx context.Context, pause time.Duration, yes func() (bool, error)) error {
	for {
		if ok, err := yes(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

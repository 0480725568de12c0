package authorship

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// resources are those that are stored, by the beginning of their keys; the longest first.
type resources []stored

type stored struct {
	prefix string
	of     schema.GroupResource
}

// Object returns which object has a key, and of which resource.
func (c *Calls) Object(key string) *protocol.RecordObject {
	c.mu.Lock()
	i := slices.IndexFunc(c.resources, func(s stored) bool { return strings.HasPrefix(key, s.prefix) })
	var known stored
	if i >= 0 {
		known = c.resources[i]
	}
	c.mu.Unlock()
	if i < 0 {
		known = guess(key)
	}
	o := &protocol.RecordObject{Group: known.of.Group, Resource: known.of.Resource, Name: strings.TrimPrefix(key, known.prefix)}
	if namespace, name, ok := strings.Cut(o.Name, "/"); ok {
		o.Namespace, o.Name = namespace, name
	}
	return o
}

// guess reads a key by its form. That of a custom resource, whose storage is made when it is first used, begins with
// its group.
func guess(key string) stored {
	group, rest, _ := strings.Cut(strings.TrimPrefix(key, "/"), "/")
	resource, _, ok := strings.Cut(rest, "/")
	if !ok || !strings.Contains(group, ".") {
		return stored{"/" + group + "/", schema.GroupResource{Resource: group}}
	}
	return stored{"/" + group + "/" + resource + "/", schema.GroupResource{Group: group, Resource: resource}}
}

// Storage puts itself round the storage of a resource whose keys begin with a prefix.
func (c *Calls) Storage(of schema.GroupResource, prefix string, s storage.Interface) storage.Interface {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := stored{"/" + strings.Trim(prefix, "/") + "/", of}
	if !slices.Contains(c.resources, known) {
		c.resources = append(c.resources, known)
		slices.SortStableFunc(c.resources, func(a, b stored) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
	}
	return observed{s, c}
}

// observed notes the revision of each write. What a write returns is decoded with that of its transaction: see
// k8s.io/apiserver/pkg/storage/etcd3/store.go.
type observed struct {
	storage.Interface
	calls *Calls
}

func (o observed) revision(of runtime.Object, err error) int64 {
	if err != nil || of == nil {
		return 0
	}
	revision, err := o.Versioner().ObjectResourceVersion(of)
	if err != nil {
		return 0
	}
	return int64(revision)
}

// Create notes the author of a new object.
func (o observed) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	o.calls.enter(key)
	err := o.Interface.Create(ctx, key, obj, out, ttl)
	o.calls.leave(key, o.revision(out, err), author(ctx))
	return err
}

// Delete notes the author of a deletion.
func (o observed) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, options storage.DeleteOptions,
) error {
	entered := false
	err := o.Interface.Delete(ctx, key, out, preconditions, func(ctx context.Context, object runtime.Object) error {
		err := validate(ctx, object) // in which admission runs
		if err == nil && !entered {
			entered = true
			o.calls.enter(key)
		}
		return err
	}, cached, options)
	if entered {
		o.calls.leave(key, o.revision(out, err), author(ctx))
	}
	return err
}

// GuaranteedUpdate notes the author of an update that has an effect.
func (o observed) GuaranteedUpdate(
	ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	entered, before := false, int64(0)
	err := o.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions,
		func(input runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
			output, ttl, err := update(input, meta) // in which admission runs
			before = int64(meta.ResourceVersion)
			if err == nil && !entered {
				entered = true
				o.calls.enter(key)
			}
			return output, ttl, err
		}, cached)
	if !entered {
		return err
	}
	revision := o.revision(destination, err)
	if revision == before { // nothing was written
		revision = 0
	}
	o.calls.leave(key, revision, author(ctx))
	return err
}

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
	began := o.calls.enter(key)
	err := o.Interface.Create(ctx, key, obj, out, ttl)
	o.calls.leave(key, began, o.revision(out, err), author(ctx, o.calls.Object(key)), err)
	return err
}

// attempts are those of one write: upstream asks for its content, or whether it may be, anew for each.
type attempts struct {
	observed
	ctx     context.Context
	key     string
	of      *protocol.RecordObject
	tried   bool
	entered bool // the last one may be committed
	began   int64
}

func (o observed) attempts(ctx context.Context, key string) *attempts {
	return &attempts{observed: o, ctx: ctx, key: key, of: o.calls.Object(key)}
}

// try begins another attempt: in ask admission runs.
func (a *attempts) try(ask func() error) error {
	a.withdraw()
	if a.tried {
		again(a.ctx, a.of)
	}
	a.tried = true
	err := ask()
	if err == nil {
		a.began, a.entered = a.calls.enter(a.key), true
	}
	return err
}

func (a *attempts) withdraw() {
	if a.entered {
		a.calls.withdraw(a.key, a.began)
		a.entered = false
	}
}

// leave ends the write. The last attempt may have been committed.
func (a *attempts) leave(out runtime.Object, err error) error {
	if a.entered {
		a.calls.leave(a.key, a.began, a.revision(out, err), author(a.ctx, a.of), err)
	}
	return err
}

// Delete notes the author of a deletion.
func (o observed) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, options storage.DeleteOptions,
) error {
	a := o.attempts(ctx, key)
	return a.leave(out, o.Interface.Delete(ctx, key, out, preconditions, func(ctx context.Context, object runtime.Object) error {
		return a.try(func() error { return validate(ctx, object) })
	}, cached, options))
}

// GuaranteedUpdate notes the author of an update that has an effect.
func (o observed) GuaranteedUpdate(
	ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	a := o.attempts(ctx, key)
	return a.leave(destination, o.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions,
		func(input runtime.Object, meta storage.ResponseMeta) (output runtime.Object, ttl *uint64, err error) {
			err = a.try(func() error {
				output, ttl, err = update(input, meta)
				return err
			})
			return output, ttl, err
		}, cached))
}

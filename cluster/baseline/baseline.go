// Package baseline remembers what a store of a Kubernetes API server held at some time, and
// says what has to change to get back there.
//
//	base := baseline.Of(snapshot, "/registry")
//	…
//	change := base.Difference(now)
//
// It compares bytes, and reads as much of a value as it takes to know which object it is.
package baseline

import (
	"bytes"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/etcd"
)

// The keys, behind the store's prefix, that somebody writes all the time.
var (
	// ignored are no objects and expire by themselves.
	ignored = []string{"/masterleases/", "/peerserverleases/"}
	// beating are leases of nodes and API servers. They come and go with what else there
	// is, but what they hold does not count.
	beating = []string{"/leases/kube-node-lease/", "/leases/kube-system/apiserver-"}
	// passing are told of what happened, by many and at any time. No baseline has any.
	passing = []string{"/events/"}
	// late is what an API server writes by itself soon after it is ready.
	late = []string{"/leases/kube-system/apiserver-", "/configmaps/kube-system/extension-apiserver-authentication"}
	// judged are objects that an API server makes before it is ready, and gives a condition soon after.
	judged = []string{"/servicecidrs/"}
)

// Baseline is what a store held.
type Baseline struct {
	prefix  string
	values  map[string][]byte
	version int // grows when values change
}

func (b *Baseline) set(key string, value []byte) {
	b.values[key] = value
	b.version++
}

// Of makes a baseline of a snapshot of all keys below prefix. Events are not part of it.
func Of(snapshot etcd.Snapshot, prefix string) *Baseline {
	b := &Baseline{prefix: prefix, values: make(map[string][]byte, len(snapshot.Pairs))}
	for _, p := range snapshot.Pairs {
		if !b.among(ignored, p.Key) && !b.among(passing, p.Key) {
			b.values[string(p.Key)] = p.Value
		}
	}
	return b
}

func (b *Baseline) among(prefixes []string, key []byte) bool {
	below := strings.TrimPrefix(string(key), b.prefix)
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(below, p) })
}

// Adopt adds to the baseline what a later snapshot has under these keys.
func (b *Baseline) Adopt(keys []string, now etcd.Snapshot) {
	for _, p := range now.Pairs {
		if key := string(p.Key); slices.Contains(keys, key) {
			b.set(key, p.Value)
		}
	}
}

// AdoptLate adds to the baseline what the API server has written by itself since. It says whether
// the baseline has all that now.
func (b *Baseline) AdoptLate(now etcd.Snapshot) (all bool) {
	all = true
	for _, p := range now.Pairs {
		then, known := b.values[string(p.Key)]
		if !known && b.among(late, p.Key) || known && b.among(judged, p.Key) && !bytes.Contains(then, ready) {
			b.set(string(p.Key), p.Value)
			all = all && (!known || bytes.Contains(p.Value, ready))
		}
	}
	for _, prefix := range late {
		if !b.has(prefix) {
			return false
		}
	}
	return all
}

// ready is the type of the condition that what is judged gets. It stands in a value as it is, in whatever format.
var ready = []byte("Ready")

// UIDs are those of all objects of the baseline.
func (b *Baseline) UIDs() map[types.UID]bool {
	ids := make(map[types.UID]bool, len(b.values))
	for key, value := range b.values {
		if o := b.object(etcd.Pair{Key: []byte(key), Value: value}); o.UID != "" {
			ids[o.UID] = true
		}
	}
	return ids
}

func (b *Baseline) has(below string) bool {
	for key := range b.values {
		if strings.HasPrefix(key, b.prefix+below) {
			return true
		}
	}
	return false
}

// Change is what leads back to a baseline.
type Change struct {
	Remove []Object // that the baseline does not have
	// Replace are those that were made anew under an old name: who follows objects must see
	// the new one go before the old one comes back.
	Replace []Object
	Put     []etcd.Pair // all that the baseline has otherwise, replaced ones included
	Restore []Object    // the objects of Put
}

// Empty says that the baseline is reached.
func (c Change) Empty() bool { return len(c.Remove) == 0 && len(c.Put) == 0 }

// maxLayer is the size, in bytes, up to which changes make one layer: the store takes it in one transaction.
const maxLayer = etcd.MaxTransaction

// Layers cuts a change into parts that have at most one object of a resource each. All that is written at once has one
// revision, from which a watch may go on when it breaks off. It must not go on behind the first of several events of
// that revision. A part is one transaction, too: with two revisions it could not be waited for.
func (c Change) Layers() (remove, put []Change) {
	removals, puts := layers{}, layers{}
	for _, o := range append(slices.Clip(c.Remove), c.Replace...) {
		removals.add(o.Resource, len(o.Key), func(l *Change) { l.Remove = append(l.Remove, o) })
	}
	for i, o := range c.Restore {
		puts.add(o.Resource, len(o.Key)+len(c.Put[i].Value), func(l *Change) {
			l.Put, l.Restore = append(l.Put, c.Put[i]), append(l.Restore, o)
		})
	}
	return removals.all, puts.all
}

// layers are parts of a change.
type layers struct {
	all   []Change
	sizes []int
	from  map[schema.GroupResource]int // the first that has no object of the resource
}

// add puts an object into the first part that has none of its resource and room for it.
func (l *layers) add(r schema.GroupVersionResource, size int, to func(*Change)) {
	if l.from == nil {
		l.from = map[schema.GroupResource]int{}
	}
	at := l.from[r.GroupResource()]
	for at < len(l.all) && l.sizes[at]+size > maxLayer {
		at++
	}
	if at == len(l.all) {
		l.all, l.sizes = append(l.all, Change{}), append(l.sizes, 0)
	}
	l.from[r.GroupResource()] = at + 1
	l.sizes[at] += size
	to(&l.all[at])
}

// Orphans takes out of a change the objects that go with their CRDs, in parts that are a transaction each: no
// watch reads them.
func (c Change) Orphans() (rest Change, orphans []Change) {
	gone := c.undefined()
	rest = c
	rest.Remove = nil
	size := maxLayer
	for _, o := range c.Remove {
		if !gone[o.Resource.GroupResource()] {
			rest.Remove = append(rest.Remove, o)
			continue
		}
		if size += len(o.Key); size > maxLayer {
			orphans, size = append(orphans, Change{}), len(o.Key)
		}
		last := &orphans[len(orphans)-1]
		last.Remove = append(last.Remove, o)
	}
	return rest, orphans
}

// undefined are the resources whose CRDs are removed.
func (c Change) undefined() map[schema.GroupResource]bool {
	set := map[schema.GroupResource]bool{}
	for _, o := range c.Remove {
		for _, r := range o.Defines {
			set[r.GroupResource()] = true
		}
	}
	return set
}

// Difference compares with a later snapshot.
func (b *Baseline) Difference(now etcd.Snapshot) Change {
	var c Change
	found := make(map[string]bool, len(b.values))
	for _, p := range now.Pairs {
		then, known := b.values[string(p.Key)]
		switch {
		case b.among(ignored, p.Key):
		case !known:
			c.Remove = append(c.Remove, b.object(p))
		case !bytes.Equal(then, p.Value):
			b.compare(&c, p, then)
		}
		found[string(p.Key)] = true
	}
	for key, value := range b.values {
		if !found[key] {
			b.put(&c, etcd.Pair{Key: []byte(key), Value: value})
		}
	}
	return c
}

func (b *Baseline) compare(c *Change, now etcd.Pair, value []byte) {
	then := etcd.Pair{Key: now.Key, Value: value}
	old, other := b.object(now), b.object(then)
	switch {
	case old.UID != other.UID:
		c.Replace = append(c.Replace, old)
	case b.among(beating, now.Key):
		return
	}
	b.put(c, then)
}

func (b *Baseline) put(c *Change, p etcd.Pair) {
	c.Put = append(c.Put, p)
	c.Restore = append(c.Restore, b.object(p))
}

package recorder

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/history/delta"
	"github.com/slipway-dev/slipway/cluster/journal"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// change makes entries of a change in etcd.
func (r *Recorder) change(c etcd.Change) []history.Item {
	key := strings.TrimPrefix(string(c.Key), r.options.Prefix)
	if journal.Hidden(key) {
		return nil
	}
	object := r.options.Calls.Object(key)
	e := protocol.RecordEntry{Kind: protocol.RecordWrite, Object: object, Revision: c.Revision, Type: history.Updated}
	switch {
	case c.Removed:
		e.Type = history.Deleted
	case c.Created:
		e.Type = history.Created
	}
	written, known := r.options.Calls.Written(key, c.Revision, 0)
	if !known {
		r.flush() // nothing that is known waits for an author
		limit := authorLimit
		if r.life.Err() != nil {
			limit = 0
		}
		written, known = r.options.Calls.Written(key, c.Revision, limit)
	}
	e.By, e.Decisions = written.By, written.Decisions
	switch {
	case known && e.By == nil && r.byReset(c.Revision):
		e.Reason = "reset"
	case !known || e.By == nil && c.Revision <= r.began:
		e.By = &protocol.RecordAuthor{Unknown: true}
	}
	switch {
	case object.Resource == "events" && (object.Group == "" || object.Group == "events.k8s.io"):
		return r.event(c, e)
	case object.Resource == "secrets" && object.Group == "":
		return r.secret(c, e)
	}
	return r.object(key, c, e)
}

// object makes an entry of the write of any object.
func (r *Recorder) object(key string, c etcd.Change, e protocol.RecordEntry) []history.Item {
	var after *delta.Object
	lease := e.Object.Resource == "leases" && e.Object.Group == "coordination.k8s.io"
	if !c.Removed {
		var err error
		if after, err = delta.Parse(c.Value); err != nil {
			r.before.swap(key, nil)
			e.Unread = err.Error()
			return []history.Item{{Entry: e}}
		}
		if lease {
			after.DropRenewal()
		}
		r.kinds[kind{e.Object.Group, after.Kind}] = e.Object.Resource
	}
	before := r.before.swap(key, after)
	if before == nil && !c.Created {
		before = r.stored(c, lease)
	}
	item := history.Item{Entry: e}
	if of := cmp.Or(after, before); of != nil {
		item.Entry.Object.Kind, item.Entry.Object.UID, item.Owners = of.Kind, of.UID, of.Owners
	}
	switch {
	case c.Removed:
		return []history.Item{item}
	case before == nil && !c.Created:
		item.Entry.Unread = "the object before it is not known"
		return []history.Item{item}
	case c.Created:
		before = nil
	}
	body, err := delta.Between(before, after, &r.values)
	switch {
	case err != nil:
		item.Entry.Unread = err.Error()
	case body == nil && lease:
		return nil
	case body == nil:
		item.Entry.Idle = true
	}
	item.Delta = body
	return []history.Item{item}
}

// stored is the object as it was before a change; nil if that is not known.
func (r *Recorder) stored(c etcd.Change, lease bool) *delta.Object {
	value, err := r.options.Store.At(r.life, c.Key, c.Revision-1)
	if err != nil || value == nil {
		return nil
	}
	o, err := delta.Parse(value)
	if err != nil {
		return nil
	}
	if lease {
		o.DropRenewal()
	}
	return o
}

// secret makes an entry with the names of keys that differ, and no value.
func (r *Recorder) secret(c etcd.Change, e protocol.RecordEntry) []history.Item {
	e.Decisions = nil
	var before []byte
	if !c.Created {
		before, _ = r.options.Store.At(r.life, c.Key, c.Revision-1) // without it all keys differ
	}
	old, now := r.readSecret(before), r.readSecret(c.Value)
	e.Object.Kind, e.Object.UID = "Secret", cmp.Or(now.Metadata.UID, old.Metadata.UID)
	if c.Removed {
		return []history.Item{{Entry: e}}
	}
	if now.Data == nil && now.Metadata.UID == "" {
		e.Unread = "the Secret is stored in a form that cannot be read"
		return []history.Item{{Entry: e}}
	}
	keys := slices.Sorted(maps.Keys(now.Data))
	for key := range old.Data {
		if _, ok := now.Data[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if !bytes.Equal(old.Data[key], now.Data[key]) {
			e.Keys = append(e.Keys, key)
		}
	}
	e.Idle = len(e.Keys) == 0
	return []history.Item{{Entry: e}}
}

type secret struct {
	Metadata struct{ UID string }
	Data     map[string][]byte
}

// readSecret decodes a stored Secret, and has its values hidden from now on. If they have no room, values that no
// Secret has any more are forgotten.
func (r *Recorder) readSecret(value []byte) secret {
	s, room := r.learn(value)
	if room || r.full && time.Since(r.learned) < learnInterval {
		return s
	}
	r.values.Turn()
	if err := r.learnSecrets(r.life); err != nil {
		r.full = true
	}
	if s, room = r.learn(value); !room {
		r.full = true
	}
	return s
}

// learnInterval is how long values that had no room are not tried again.
const learnInterval = time.Minute

// learn is false if not all values have room.
func (r *Recorder) learn(value []byte) (s secret, room bool) {
	if len(value) == 0 {
		return s, true
	}
	text, err := r.toJSON(value)
	if err != nil || json.Unmarshal(text, &s) != nil {
		return secret{}, false // as encrypted ones: nothing is known to be hidden
	}
	room = true
	for _, v := range s.Data {
		room = r.values.Add(v) && room
	}
	return s, room
}

// learnSecrets reads the values of all Secrets that there are.
func (r *Recorder) learnSecrets(ctx context.Context) error {
	snapshot, err := r.options.Store.Read(ctx, r.options.Prefix+"/secrets/")
	if err != nil {
		return fmt.Errorf("read the Secrets whose values are to be hidden: %w", err)
	}
	r.full, r.learned = false, time.Now()
	for _, p := range snapshot.Pairs {
		if _, room := r.learn(p.Value); !room {
			r.full = true
		}
	}
	return nil
}

// event makes an entry of what an Event reports, for the object that it is about.
func (r *Recorder) event(c etcd.Change, e protocol.RecordEntry) []history.Item {
	if c.Removed {
		return nil // it was old
	}
	text, err := r.toJSON(c.Value)
	if err != nil {
		return nil
	}
	var event struct {
		InvolvedObject struct{ Kind, Namespace, Name, UID, APIVersion string }
		Type, Reason   string
		Message        string
		Count          int
		Series         struct{ Count int }
		Source         struct{ Component string }

		ReportingComponent string
	}
	if json.Unmarshal(text, &event) != nil {
		return nil
	}
	of := event.InvolvedObject
	version, _ := schema.ParseGroupVersion(of.APIVersion) // one that cannot be read has no group
	o := &protocol.RecordObject{Group: version.Group, Resource: r.resource(version, of.Kind), Namespace: of.Namespace, Name: of.Name, Kind: of.Kind, UID: of.UID}
	entry := protocol.RecordEntry{
		Kind: protocol.RecordEvent, Object: o, Type: event.Type, Reason: event.Reason, Message: event.Message,
		Count: max(event.Count, event.Series.Count), Revision: c.Revision,
	}
	if e.By != nil {
		by := *e.By
		by.Agent = cmp.Or(event.ReportingComponent, event.Source.Component, by.Agent)
		entry.By = &by
	}
	return []history.Item{{Entry: entry}}
}

// resource is that of a kind: the one under which objects of the kind were written, or what most kinds have.
func (r *Recorder) resource(version schema.GroupVersion, name string) string {
	if known, ok := r.kinds[kind{version.Group, name}]; ok {
		return known
	}
	guess, _ := meta.UnsafeGuessKindToResource(version.WithKind(name))
	return guess.Resource
}

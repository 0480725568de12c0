package engine

import (
	"errors"
	"path/filepath"
	"strconv"
	"time"

	"github.com/slipway-dev/slipway/cluster/authorship"
	"github.com/slipway-dev/slipway/cluster/frontdoor"
	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/recorder"
)

// ErrNoRecord says that a cluster keeps no record.
var ErrNoRecord = errors.New("this cluster keeps no record: its configuration has no recordBytes")

// authors returns what knows who writes; nil for a cluster without a record.
func (c *Cluster) authors() *authorship.Calls {
	if c.spec.RecordBytes == 0 {
		return nil
	}
	refused := func(e protocol.RecordEntry) {
		if r := c.recorder.Load(); r != nil {
			r.Note(history.Item{Entry: e})
		}
	}
	return authorship.New(refused, func() int64 { return c.store.Revision() })
}

// record begins to record what is written to the store from now on.
func (c *Cluster) record(durable bool) {
	if c.calls == nil {
		return
	}
	c.recorder.Store(recorder.Start(recorder.Options{
		Dir: filepath.Join(c.dir, "record"), Limit: c.spec.RecordBytes, Store: c.store, Prefix: c.prefix, Calls: c.calls, Resume: durable,
		Problem: func(err error) {
			if c.note != nil {
				c.note("record", err.Error())
			}
		},
	}))
}

// closeRecord ends the record, before the store ends.
func (c *Cluster) closeRecord() {
	if r := c.recorder.Load(); r != nil {
		r.Close()
	}
}

// History is the cluster's record. Errors are [ErrNoRecord] and those of [history.Open].
func (c *Cluster) History() (*history.Record, error) {
	if r := c.recorder.Load(); r != nil {
		return r.History()
	}
	return nil, ErrNoRecord
}

// Note adds to the record.
func (c *Cluster) Note(items ...history.Item) error {
	r := c.recorder.Load()
	if r == nil {
		return ErrNoRecord
	}
	for _, item := range items {
		r.Note(item)
	}
	return nil
}

// mark adds a marker to the record.
func (c *Cluster) mark(what string) {
	if r := c.recorder.Load(); r != nil {
		r.Mark(what, c.store.Revision())
	}
}

// resets marks the writes of a reset in the record. Done is called with the revision of the last one.
func (c *Cluster) resets() (done func(last int64)) {
	if r := c.recorder.Load(); r != nil {
		return r.Resetting()
	}
	return func(int64) {}
}

// observe returns what records the reports of a door; nil without a record.
func (c *Cluster) observe(door string) func(frontdoor.Report) {
	r := c.recorder.Load()
	if r == nil {
		return nil
	}
	return func(report frontdoor.Report) {
		if e, ok := entryOf(door, report); ok {
			r.Note(history.Item{Entry: e})
		}
	}
}

// entryOf is a report as the record has it.
func entryOf(door string, report frontdoor.Report) (e protocol.RecordEntry, ok bool) {
	revision := func(text string) int64 {
		n, _ := strconv.ParseInt(text, 10, 64) // it may not be known
		return n
	}
	switch r := report.(type) {
	case frontdoor.Request:
		e = protocol.RecordEntry{
			Kind: protocol.RecordRequest, Status: r.Status, LatencyMs: float64(r.Latency.Microseconds()) / 1000, Path: r.Path, Revision: revision(r.ResourceVersion),
			By: &protocol.RecordAuthor{User: r.User, Verb: r.Verb, Subresource: r.Subresource, Door: door, Trace: r.Trace}, Logged: r.Came,
		}
		if r.Resource == "namespaces" { // they are requested as if they were within themselves
			r.Namespace = ""
		}
		if r.Resource != "" {
			e.Object = &protocol.RecordObject{Group: r.Group, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}
		}
		return e, true
	case frontdoor.Delivered:
		e = protocol.RecordEntry{
			Kind: protocol.RecordDelivery, Type: r.Type, Logged: time.Now(), By: &protocol.RecordAuthor{User: r.User, Door: door},
			Object: &protocol.RecordObject{Group: r.Group, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}, Revision: revision(r.ResourceVersion),
		}
		return e, r.Type != frontdoor.Synced
	}
	return e, false
}

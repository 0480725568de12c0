package serve

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// maxLines bounds the lines of one request.
const maxLines = 256

var errLines = errors.New("recordLines has too many lines: 256 is the limit")

// recording are the requests about the record.
func (s *session) recording(life context.Context, c *client, send protocol.Send) protocol.Methods {
	return protocol.Methods{
		"record": protocol.Answer(func(q protocol.RecordQuery) (page protocol.RecordPage, err error) {
			h, err := s.history(q.Logical)
			if err == nil {
				page = h.Read(q)
			}
			return page, err
		}),
		"followRecord": protocol.Answer(func(q protocol.RecordQuery) (protocol.Empty, error) {
			return protocol.Empty{}, s.followRecord(life, c, q, send)
		}),
		"recordLines": protocol.Answer(func(l protocol.RecordLines) (protocol.Empty, error) {
			if len(l.Lines) > maxLines {
				return protocol.Empty{}, errLines
			}
			return protocol.Empty{}, s.withHost(func(h *engine.Host) error { return h.Main().Note(items(l)...) })
		}),
	}
}

func (s *session) history(logical string) (of *history.Record, err error) {
	err = s.withHost(func(h *engine.Host) error {
		c, err := h.Cluster(logical)
		if err == nil {
			of, err = c.History()
		}
		return err
	})
	return of, err
}

// followRecord begins to send a client the entries that a question is about.
func (s *session) followRecord(life context.Context, c *client, q protocol.RecordQuery, send protocol.Send) error {
	if len(c.follows) >= maxDoors {
		return errDoors
	}
	h, err := s.history(q.Logical)
	if err != nil {
		return err
	}
	if q.After == nil {
		last := h.Last()
		q.After = &last
	}
	ctx, cancel := context.WithCancel(life)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		each := func(e protocol.RecordEntry) error { return send(protocol.Recorded{Logical: q.Logical, Entry: e}) }
		_ = h.Follow(ctx, q, each) // ends with the client or the cluster
		_ = each(protocol.RecordEntry{Kind: protocol.RecordMarker, Type: protocol.RecordEnded})
	}()
	c.follows = append(c.follows, func() { cancel(); <-ended })
	return nil
}

// items are lines as the record has them.
func items(l protocol.RecordLines) (all []history.Item) {
	for _, line := range l.Lines {
		var by *protocol.RecordAuthor
		if line.User != "" || line.Trace != "" {
			by = &protocol.RecordAuthor{User: line.User, Trace: line.Trace}
		}
		all = append(all, history.Item{Entry: protocol.RecordEntry{
			Kind: protocol.RecordLine, Logged: line.At, By: by, Operator: l.Operator, Object: line.Object,
			Level: line.Level, Controller: line.Controller, Reconcile: line.Reconcile, Message: line.Text,
		}})
	}
	if l.Missed > 0 {
		all = append(all, history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: l.Operator, Missed: l.Missed}})
	}
	return all
}

// recordStatus describes the main cluster's record; nil if it has none.
func recordStatus(h *engine.Host) *protocol.RecordStatus {
	record, err := h.Main().History()
	switch {
	case errors.Is(err, engine.ErrNoRecord):
		return nil
	case err != nil:
		return &protocol.RecordStatus{Problem: err.Error()}
	}
	status := record.Status()
	return &status
}

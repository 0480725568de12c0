package clusterctl

import (
	"context"
	"errors"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// Record asks the record of the cluster called name for a page of entries. [protocol.RecordPage.Next] leads to the next
// one. A cluster without a record refuses.
func (c *Control) Record(ctx context.Context, name string, q protocol.RecordQuery) (page protocol.RecordPage, err error) {
	cl, err := c.cluster(name)
	if err != nil {
		return page, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	failed := request(bounded, cl.SocketPath(), "record", q, &page)
	if failed == nil {
		return page, nil
	}
	s, err := c.running(ctx, name) // what it does is asked for only now: that takes longer than an answer
	if err != nil {
		return page, err
	}
	return page, unanswered(bounded, s, noRecord(s), failed)
}

// FollowRecord calls each for the entries that a question is about, oldest first: those behind q.After, if it is there,
// and then those to come. It ends when each fails, with that error, or with ctx.
func (c *Control) FollowRecord(ctx context.Context, name string, q protocol.RecordQuery, each func(protocol.RecordEntry) error) error {
	s, err := c.running(ctx, name)
	if err != nil {
		return err
	}
	cl, err := c.cluster(s.Name)
	if err != nil {
		return err
	}
	conn, err := protocol.Dial(ctx, cl.SocketPath())
	if err != nil {
		return unanswered(ctx, s, noRecord(s), err)
	}
	defer conn.Close()
	defer conn.Until(ctx)()
	var failed error
	take := func(e protocol.Event) {
		switch {
		case e.Name != protocol.EventRecorded || e.Entry == nil || failed != nil:
		case e.Entry.Kind == protocol.RecordMarker && e.Entry.Type == protocol.RecordEnded:
			failed = unanswered(ctx, s, "cluster "+s.Name+" shows no more of its record", errRecordEnded)
		default:
			failed = each(*e.Entry)
		}
	}
	if err := conn.Call("followRecord", q, nil, take); err != nil {
		return unanswered(ctx, s, noRecord(s), err)
	}
	for failed == nil {
		e, err := conn.Read()
		if err != nil {
			return unanswered(ctx, s, "cluster "+s.Name+" shows no more of its record", err)
		}
		take(e)
	}
	return failed
}

// errRecordEnded says that the cluster ends, or the logical one that was followed.
var errRecordEnded = errors.New("it has ended")

func noRecord(s *Status) string { return "the record of cluster " + s.Name + " cannot be read" }

package explain

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
)

// History is the record of a cluster. See internal/protocol for its questions.
type History interface {
	Record(ctx context.Context, q protocol.RecordQuery) (protocol.RecordPage, error)
}

const (
	// recent is how far back what was refused, and what has failed, may still be the cause.
	recent = 10 * time.Minute
	// mostEntries bounds how many entries of a sort are looked at.
	mostEntries = 200
	// mostChanges bounds how many changes an answer has.
	mostChanges = 12
)

// recall reads what the record has about the object and what it owns, and judges that.
func (s *scene) recall(ctx context.Context, history History, q Question) {
	if q.Field != "" && !strings.HasPrefix(q.Field, ".") {
		q.Field = "." + q.Field
	}
	if q.Field != "" {
		s.field = &Field{Path: q.Field}
	}
	if history == nil {
		s.unrecorded = "the cluster keeps no record of its changes"
		return
	}
	since := s.now.Add(-recent)
	if q.Since > 0 {
		since = s.now.Add(-q.Since)
	}
	top := s.members[0]
	object := &protocol.RecordObject{Group: s.served.Group, Resource: s.served.Resource, Namespace: s.ref.Namespace, Name: s.ref.Name}
	own, err := history.Record(ctx, protocol.RecordQuery{Object: object, Field: q.Field, Since: lookBack(s.now, q), Limit: mostEntries})
	if err != nil {
		s.unrecorded = err.Error()
		return
	}
	entries := slices.Clone(own.Entries)
	if q.Field == "" {
		if uid := string(top.object.GetUID()); uid != "" {
			entries = append(entries, s.pages(ctx, history, protocol.RecordQuery{Owner: uid, Since: since, Limit: mostEntries})...)
		}
		refusals := s.pages(ctx, history, protocol.RecordQuery{Refused: true, Since: since, Limit: mostEntries})
		slices.SortStableFunc(entries, newestFirst)
		lines := s.pages(ctx, history, protocol.RecordQuery{Kinds: []string{protocol.RecordLine}, Since: since, Limit: mostEntries})
		s.refusals(ctx, history, s.ownRefusals(refusals, lines), entries, operatorsOf(own.Entries))
		s.writers(top, own.Entries)
		s.gone(top, own.Entries)
		s.lines(own.Entries, lines)
		s.within = reconcilesOf(slices.Concat(entries, lines)).ofEntry()
	}
	if s.changed(entries); s.field != nil {
		s.field.find(own.Entries)
	}
}

// find takes the newest change of the field.
func (f *Field) find(entries []protocol.RecordEntry) {
	for _, e := range entries { // the newest first
		for _, c := range e.Changes {
			if c.Path == f.Path && e.Kind == protocol.RecordWrite {
				f.Value, f.By, f.At = c.After, author(e), e.At
				return
			}
		}
	}
}

// lookBack is since when changes are shown.
func lookBack(now time.Time, q Question) time.Time {
	if q.Since == 0 {
		return time.Time{}
	}
	return now.Add(-q.Since)
}

func newestFirst(a, b protocol.RecordEntry) int { return cmp.Compare(b.Seq, a.Seq) }

// pages reads a few pages of an answer, the newest entries first.
func (s *scene) pages(ctx context.Context, history History, q protocol.RecordQuery) (all []protocol.RecordEntry) {
	for range 3 {
		page, err := history.Record(ctx, q)
		if err != nil {
			s.unread("the record", err)
			return all
		}
		all = append(all, page.Entries...)
		if q.Before = page.Next; page.Next == 0 {
			break
		}
	}
	return all
}

// refOfEntry is the object of an entry. Entries of refusals may not know its kind.
func (s *scene) refOfEntry(o *protocol.RecordObject) report.ObjectRef {
	kind := o.Kind
	for _, r := range s.kinds {
		if kind == "" && r.Resource == o.Resource && r.Group == o.Group {
			kind = r.Kind
		}
	}
	return report.ObjectRef{Kind: cmp.Or(kind, o.Resource), Namespace: o.Namespace, Name: o.Name}
}

// changed keeps the newest changes in short.
func (s *scene) changed(entries []protocol.RecordEntry) {
	for _, e := range entries {
		if len(s.changes) == mostChanges {
			return
		}
		if c, is := changeOf(e); is {
			c.Object = s.refOfEntry(e.Object)
			c.Reconcile, c.Inferred = s.within[e.Seq].Reconcile, s.within[e.Seq].Inferred
			s.changes = append(s.changes, c)
		}
	}
}

// changeOf is an entry in short, if it is a write that changed something, or a refusal that its client does not expect.
// The kind of its object may be missing.
func changeOf(e protocol.RecordEntry) (c Change, is bool) {
	if e.Object == nil || e.Kind != protocol.RecordWrite && e.Kind != protocol.RecordRefusal || e.Idle || e.Kind == protocol.RecordRefusal && triedAgain(e) {
		return c, false
	}
	c = Change{At: e.At, Object: report.ObjectRef{Kind: e.Object.Kind, Namespace: e.Object.Namespace, Name: e.Object.Name}, By: author(e), Verb: cmp.Or(verbOf(e), e.Type), Status: e.Status}
	if e.Kind == protocol.RecordRefusal {
		c.Why = plainly(e.Message)
	}
	for _, change := range e.Changes {
		c.Fields = append(c.Fields, fieldText(change))
	}
	for _, key := range e.Keys {
		c.Fields = append(c.Fields, ".data."+key)
	}
	return c, true
}

// A Follower hands on what comes to the record of a cluster.
type Follower interface {
	FollowRecord(ctx context.Context, q protocol.RecordQuery, each func(protocol.RecordEntry) error) error
}

// Follow calls each for the changes to come of the object of an answer, until ctx ends.
func Follow(ctx context.Context, record Follower, a Answer, each func(Change)) error {
	of := schema.ParseGroupResource(a.Resource)
	q := protocol.RecordQuery{Object: &protocol.RecordObject{Group: of.Group, Resource: of.Resource, Namespace: a.Object.Namespace, Name: a.Object.Name}}
	err := record.FollowRecord(ctx, q, func(e protocol.RecordEntry) error {
		if c, is := changeOf(e); is {
			c.Object.Kind = a.Object.Kind
			each(c)
		}
		return nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// fieldText is a change of a field in short.
func fieldText(c protocol.RecordChange) string {
	if c.Path == "" {
		return ""
	}
	short := func(value []byte) string {
		if len(value) == 0 {
			return "nothing"
		}
		const longest = 60
		if text := plainly(string(value)); len(text) > longest {
			return strings.ToValidUTF8(text[:longest], "") + "…"
		} else {
			return text
		}
	}
	return c.Path + ": " + short(c.Before) + " → " + short(c.After)
}

func verbOf(e protocol.RecordEntry) string {
	if e.By == nil {
		return ""
	}
	if e.By.Subresource != "" {
		return e.By.Verb + " " + e.By.Subresource
	}
	return e.By.Verb
}

// author names who made an entry: the client, and its user if that says more.
func author(e protocol.RecordEntry) string {
	if e.By == nil {
		return cmp.Or(e.Reason, "the API server")
	}
	if e.By.Unknown {
		return "an unknown client"
	}
	agent, _, _ := strings.Cut(e.By.Agent, " ")
	if before, after, found := strings.Cut(agent, "/"); found && strings.ContainsAny(after, ".0123456789") {
		agent = before
	}
	if at := strings.LastIndex(e.By.Agent, "/"); e.By.User == "system:apiserver" && at >= 0 { // a controller of the cluster's
		agent = e.By.Agent[at+1:]
	}
	who := cmp.Or(e.By.Manager, agent)
	if e.By.User == "system:apiserver" {
		return cmp.Or(agent, who)
	}
	user := e.By.User
	if account, is := strings.CutPrefix(user, "system:serviceaccount:"); is {
		user = "ServiceAccount " + strings.Replace(account, ":", "/", 1)
	}
	if who == "" {
		return user
	}
	return who + " (" + user + ")"
}

package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/history/conceal"
	"github.com/slipway-dev/slipway/cluster/history/delta"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

func open(t testing.TB, dir string, limit int64) *history.Record {
	t.Helper()
	r, err := history.Open(dir, limit, func(b []byte) ([]byte, error) { return nil, errors.New("no protobuf") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func widget(name string) *protocol.RecordObject {
	return &protocol.RecordObject{Group: "example.com", Resource: "widgets", Namespace: "default", Name: name}
}

// write is an update of the replicas of a widget, whose owner is its name's first letter.
func write(t testing.TB, name string, before, after int) history.Item {
	t.Helper()
	text := func(n int) *delta.Object {
		o, err := delta.Parse(fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q},"spec":{"replicas":%d,"paused":false},"status":{"text":"same"}}`, name, n))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	body, err := delta.Between(text(before), text(after), &conceal.Values{})
	if err != nil {
		t.Fatal(err)
	}
	return history.Item{Delta: body, Owners: []string{name[:1]}, Entry: protocol.RecordEntry{
		Kind: protocol.RecordWrite, Type: history.Updated, Object: widget(name), Revision: int64(after),
		By: &protocol.RecordAuthor{User: "jane", Agent: "kubectl", Verb: "update"},
	}}
}

func request(user string, status int) history.Item {
	return history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordRequest, Object: widget("a1"), Status: status, By: &protocol.RecordAuthor{User: user, Verb: "get"}}}
}

// summary is the entries of a page in short.
func summary(page protocol.RecordPage) string {
	var all []string
	for _, e := range page.Entries {
		text := fmt.Sprint(e.Seq, " ", e.Kind)
		for _, c := range e.Changes {
			text += fmt.Sprintf(" %s:%s→%s", c.Path, c.Before, c.After)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestQuestions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	r := open(t, dir, 0)
	r.Put(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordMarker, Type: "began"}})
	r.Put(write(t, "a1", 1, 2), request("op", 200), write(t, "b1", 5, 6), write(t, "a1", 2, 3))
	r.Put(request("op", 403), request("jane", 200))
	r.Put(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "op", Reconcile: "b1", Message: "Reconciling\x1b[31m\xff"}})
	r.Close()
	r = open(t, dir, 0) // all is read from the files
	three := uint64(3)
	for name, c := range map[string]struct {
		q    protocol.RecordQuery
		want string
	}{
		"object": {protocol.RecordQuery{Object: widget("a1")}, "7 request, 6 request, 5 write .spec.replicas:2→3, 3 request, 2 write .spec.replicas:1→2, 1 marker"},
		"writes": {protocol.RecordQuery{Object: widget("b1"), Kinds: []string{"write"}}, "4 write .spec.replicas:5→6"},
		"field":  {protocol.RecordQuery{Object: widget("a1"), Field: ".spec.replicas", Kinds: []string{"write"}, Before: 5}, "2 write .spec.replicas:1→2"},
		"none":   {protocol.RecordQuery{Object: widget("a1"), Field: ".spec.paused", Kinds: []string{"write"}}, ""},
		"within": {protocol.RecordQuery{Object: widget("a1"), Field: ".spec", Kinds: []string{"write"}, Limit: 1}, "5 write .spec.replicas:2→3"},
		"owner":  {protocol.RecordQuery{Owner: "b", Kinds: []string{"write"}}, "4 write .spec.replicas:5→6"},
		"user":   {protocol.RecordQuery{User: "op", Kinds: []string{"request"}}, "6 request, 3 request"},
		"denied": {protocol.RecordQuery{Refused: true, Kinds: []string{"request"}}, "6 request"},
		"lines":  {protocol.RecordQuery{Operator: "op", Kinds: []string{"line"}}, "8 line"},
		"pass":   {protocol.RecordQuery{Reconcile: "b1", Kinds: []string{"line"}}, "8 line"},
		"other":  {protocol.RecordQuery{Reconcile: "b2", Kinds: []string{"line"}}, ""},
		"all":    {protocol.RecordQuery{Limit: 3}, "8 line, 7 request, 6 request"},
		"since":  {protocol.RecordQuery{Since: time.Now().Add(time.Hour)}, ""},
		"after":  {protocol.RecordQuery{After: &three, Limit: 2}, "4 write .spec.replicas:5→6, 5 write .spec.replicas:2→3"},
	} {
		if got := summary(r.Read(c.q)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	line := r.Read(protocol.RecordQuery{Operator: "op", Kinds: []string{"line"}}).Entries[0]
	if line.Message != "Reconciling\x1b[31m\uFFFD" {
		t.Errorf("%q", line.Message)
	}
	if next := r.Read(protocol.RecordQuery{Limit: 3}).Next; summary(r.Read(protocol.RecordQuery{Limit: 2, Before: next})) != "5 write .spec.replicas:2→3, 4 write .spec.replicas:5→6" {
		t.Error("the next page begins at", next)
	}
}

// TestFollow: who follows gets each entry once and in order, whichever ring it is in.
func TestFollow(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "record"), 0)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	zero, want := uint64(0), uint64(1)
	go func() {
		for i := range 500 {
			r.Put(request("op", 200), write(t, "a1", i, i+1), request("op", 404))
		}
	}()
	errEnough := errors.New("enough")
	err := r.Follow(ctx, protocol.RecordQuery{After: &zero}, func(e protocol.RecordEntry) error {
		if e.Seq != want {
			return fmt.Errorf("entry %d in place of %d", e.Seq, want)
		}
		if want++; want > 1500 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Error(err)
	}
	time.AfterFunc(50*time.Millisecond, r.Close)
	if err := r.Follow(ctx, protocol.RecordQuery{}, func(protocol.RecordEntry) error { return nil }); !errors.Is(err, history.ErrClosed) {
		t.Error(err)
	}
}

// TestGap: what is lost is counted before the next entry.
func TestGap(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "record"), 0)
	r.Put(request("op", 200))
	r.Miss(3, "too many at once")
	r.Put(request("op", 201))
	page := r.Read(protocol.RecordQuery{User: "op"})
	if len(page.Entries) != 3 || page.Entries[1].Kind != protocol.RecordGap || page.Entries[1].Missed != 3 || r.Status().Missed != 3 {
		t.Errorf("%+v", page)
	}
}

// TestFailures: what a failed write has lost is counted once, the gap before it too.
func TestFailures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "record")
	r := open(t, dir, 0)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	r.Put(write(t, "a1", 1, 2), write(t, "a1", 2, 3), write(t, "a1", 3, 4))
	for range 2 {
		<-time.After(1100 * time.Millisecond) // the record rests for a second
		r.Put(write(t, "a1", 4, 5))
	}
	if got := r.Status(); got.Missed != 5 || got.Problem == "" {
		t.Errorf("%+v", got)
	}
}

// TestHostileSizes: texts and lists of any size are bounded.
func TestHostileSizes(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "record"), 0)
	long := strings.Repeat("x\x00<", 1<<20)
	var owners []string
	e := protocol.RecordEntry{Kind: protocol.RecordRefusal, Object: widget(long), By: &protocol.RecordAuthor{User: long, Agent: long}, Message: long, Reason: long, Status: 500}
	for i := range 1000 {
		owners = append(owners, fmt.Sprint(i))
		e.Decisions = append(e.Decisions, protocol.RecordDecision{Plugin: long, Text: long})
	}
	r.Put(history.Item{Entry: e, Owners: owners})
	page := r.Read(protocol.RecordQuery{Refused: true})
	text, err := json.Marshal(page)
	if err != nil || len(page.Entries) != 1 || len(text) > 128<<10 {
		t.Error(len(page.Entries), len(text), err)
	}
}

// TestLargeEntries: what has no room in an entry leaves the rest of it alone, and says so.
func TestLargeEntries(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "record"), 0)
	long := strings.Repeat("\x01", 400)
	many := write(t, "a1", 1, 2)
	for range 1700 {
		many.Owners = append(many.Owners, "11111111-2222-3333-4444-555555555555")
	}
	escapes := write(t, "a2", 1, 2)
	escapes.Entry.By.User = strings.Repeat("u", 500)
	for range 16 {
		escapes.Entry.Decisions = append(escapes.Entry.Decisions, protocol.RecordDecision{Plugin: long, Effect: long, Text: long})
	}
	large := write(t, "a3", 1, 2)
	large.Delta = make([]byte, 62<<10)
	large.Entry.Object.Name = "a3"
	r.Put(many, escapes, large)
	for name, want := range map[string]string{"a1": "1 write .spec.replicas:1→2", "a2": "2 write .spec.replicas:1→2", "a3": "3 write"} {
		page := r.Read(protocol.RecordQuery{Object: widget(name)})
		if got := summary(page); got != want || (name == "a3") != (page.Entries[0].Unread != "") {
			t.Errorf("%s: %+v", got, page.Entries)
		}
	}
	if page := r.Read(protocol.RecordQuery{User: strings.Repeat("u", 400)}); len(page.Entries) != 1 {
		t.Error("the user with a long name has", len(page.Entries))
	}
}

// TestTimes: whatever time a line has, questions about a time find what is behind it, and can be answered.
func TestTimes(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "record"), 0)
	before := time.Now().Add(-time.Second)
	r.Put(write(t, "a1", 1, 2))
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -12*3600))} {
		r.Put(history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "op", Object: widget("a1"), Logged: at, At: at}})
	}
	page := r.Read(protocol.RecordQuery{Object: widget("a1"), Since: before})
	if _, err := json.Marshal(page); err != nil || len(page.Entries) != 4 || !page.Entries[1].Logged.Equal(time.Unix(0, 0)) {
		t.Error(err, summary(page))
	}
}

// TestOvertaken: who reads on behind an entry that is gone is given a gap.
func TestOvertaken(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "record"), history.MinSize)
	for range 200 {
		var items []history.Item
		for range 50 {
			items = append(items, history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordEvent, Object: widget("a1"), Message: strings.Repeat("m", 1000)}})
		}
		r.Put(items...)
	}
	page := r.Read(protocol.RecordQuery{After: new(uint64)})
	if first, second := page.Entries[0], page.Entries[1]; first.Kind != protocol.RecordGap || uint64(first.Missed) != second.Seq-1 {
		t.Errorf("%+v, %+v", first, second)
	}
	if one := r.Read(protocol.RecordQuery{After: new(uint64), Limit: 1}); len(one.Entries) > 2 {
		t.Error("a page of one entry has", len(one.Entries))
	}
	after := page.Entries[1].Seq
	if page := r.Read(protocol.RecordQuery{After: &after}); page.Entries[0].Seq != after+1 {
		t.Errorf("%+v", page.Entries[0])
	}
}

// TestSpeed asks a full record of the usual size, if SLIPWAY_RECORD_FULL is set.
func TestSpeed(t *testing.T) {
	if os.Getenv("SLIPWAY_RECORD_FULL") == "" {
		t.Skip("SLIPWAY_RECORD_FULL is not set")
	}
	const limit, objects = int64(256 << 20), 10_000
	dir := filepath.Join(t.TempDir(), "record")
	r := open(t, dir, limit)
	last := uint64(0)
	body := write(t, "a", 1, 2).Delta
	for n := 0; r.Status().Bytes < limit*7/8; n++ {
		var items []history.Item
		for i := range 50 {
			name := fmt.Sprint("a", (n*50+i)%objects)
			if i%10 == 0 {
				name = "ahot"
			}
			line := history.Item{Entry: protocol.RecordEntry{Kind: protocol.RecordLine, Operator: "op", Message: strings.Repeat("Reconciling ", 10), Object: widget(name)}}
			change := history.Item{Delta: body, Owners: []string{"a"}, Entry: protocol.RecordEntry{Kind: protocol.RecordWrite, Type: history.Updated,
				Object: widget(name), Revision: int64(n), By: &protocol.RecordAuthor{User: "jane", Agent: "kubectl", Verb: "update"}}}
			items = append(items, change, request("op", 200+n%2*203), line)
		}
		r.Put(items...)
		last = r.Last()
	}
	status := r.Status()
	r.Close()
	r = open(t, dir, limit)
	first := r.Read(protocol.RecordQuery{After: new(uint64), Kinds: []string{protocol.RecordWrite}, Limit: 1}).Entries[0].Seq
	t.Logf("%d entries at most, the oldest is %d, in %d MiB", last-first, first, status.Bytes>>20)
	for name, q := range map[string]protocol.RecordQuery{
		"object": {Object: widget("a77")}, "field": {Object: widget("a77"), Field: ".spec.replicas"}, "absent": {Object: widget("x")},
		"hot": {Object: widget("ahot")}, "hot field": {Object: widget("ahot"), Field: ".spec.paused"}, "newest": {}, "owner": {Owner: "a"},
		"requests": {User: "op"}, "refused": {Refused: true}, "lines": {Operator: "op"}, "since": {Since: time.Now().Add(-time.Second)},
		"events": {Kinds: []string{"event"}}, "after": {After: &first}, "after the end": {After: &last},
	} {
		var took []time.Duration
		for range 20 {
			began := time.Now()
			r.Read(q)
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		t.Logf("%-14s %6.1f ms, %6.1f at most", name, float64(took[10].Microseconds())/1000, float64(took[19].Microseconds())/1000)
		if took[10] > 100*time.Millisecond {
			t.Errorf("%s took %v", name, took[10])
		}
	}
}

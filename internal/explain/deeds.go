package explain

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/ui/devlog"
)

// A Deed is an entry of the record. Its field Reconcile is the ID of the reconcile that it belongs to, whatever its
// kind.
type Deed struct {
	protocol.RecordEntry
	Who string `json:"who,omitempty"`
	// Text is what a line says, without what all lines of its reconcile say.
	Text string `json:"text,omitempty"`
	// Inferred says that only time and object tell to which reconcile it belongs. The ID in a line, and a trace, are
	// exact.
	Inferred bool `json:"inferred,omitempty"`
}

// A DeedPage is an answer of the record. See [protocol.RecordPage].
type DeedPage struct {
	Entries    []Deed    `json:"entries"`
	Next       uint64    `json:"next,omitempty"`
	SearchedTo time.Time `json:"searchedTo,omitzero"`
}

const (
	// around is how long before and after entries is searched for what tells to which reconciles they belong.
	around = 5 * time.Second
	// pagesAround bounds that search.
	pagesAround = 3
	// linesOfReconcile bounds the pages of lines of one reconcile.
	linesOfReconcile = 5
)

// Deeds asks the record, and finds out to which reconciles the entries belong.
func Deeds(ctx context.Context, history History, q protocol.RecordQuery) (DeedPage, error) {
	page, err := history.Record(ctx, q)
	all := DeedPage{Entries: []Deed{}, Next: page.Next, SearchedTo: page.SearchedTo}
	if err != nil || len(page.Entries) == 0 {
		return all, err
	}
	asked := map[uint64]bool{}
	oldest, newest := page.Entries[0], page.Entries[0]
	for _, e := range page.Entries {
		asked[e.Seq] = true
		if e.At.Before(oldest.At) {
			oldest = e
		}
		if e.Seq > newest.Seq {
			newest = e
		}
	}
	others, err := nearby(ctx, history, protocol.RecordQuery{Kinds: []string{protocol.RecordLine, protocol.RecordRequest}, Since: oldest.At.Add(-around), Before: newest.Seq + mostEntries})
	if err != nil {
		return all, err
	}
	others = slices.DeleteFunc(others, func(e protocol.RecordEntry) bool { return asked[e.Seq] })
	for _, d := range slices.Backward(reconcilesOf(append(others, page.Entries...)).deeds) {
		if asked[d.Seq] {
			all.Entries = append(all.Entries, d)
		}
	}
	slices.SortStableFunc(all.Entries, func(a, b Deed) int { return newestFirst(a.RecordEntry, b.RecordEntry) })
	return all, nil
}

// nearby reads a few pages, the newest first.
func nearby(ctx context.Context, history History, q protocol.RecordQuery) (all []protocol.RecordEntry, err error) {
	q.Limit = mostEntries
	for range pagesAround {
		page, err := history.Record(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Entries...)
		if q.Before = page.Next; page.Next == 0 {
			break
		}
	}
	return all, nil
}

// ErrNoReconcile says that the record has nothing of a reconcile: it was never there, or has made room.
var ErrNoReconcile = errors.New("the record has no reconcile of this ID")

// FindReconcile returns a reconcile by its ID, and its deeds by time.
func FindReconcile(ctx context.Context, history History, id string) (found Reconcile, deeds []Deed, err error) {
	var entries []protocol.RecordEntry
	q := protocol.RecordQuery{Reconcile: id, Kinds: []string{protocol.RecordLine}, Limit: mostEntries}
	if number, is := burst(id); is {
		q = protocol.RecordQuery{Before: number + 1, Limit: 1}
	}
	for range linesOfReconcile {
		page, err := history.Record(ctx, q)
		if err != nil {
			return found, nil, err
		}
		entries = append(entries, page.Entries...)
		if q.Before = page.Next; page.Next == 0 || q.Limit == 1 {
			break
		}
	}
	if len(entries) == 0 {
		return found, nil, ErrNoReconcile
	}
	others, err := nearby(ctx, history, protocol.RecordQuery{User: userOf(entries), Before: entries[0].Seq + mostEntries, Since: entries[len(entries)-1].At.Add(-around)})
	if err != nil {
		return found, nil, err
	}
	known := map[uint64]bool{}
	for _, e := range entries {
		known[e.Seq] = true
	}
	others = slices.DeleteFunc(others, func(e protocol.RecordEntry) bool { return known[e.Seq] })
	all := reconcilesOf(append(others, entries...))
	at := slices.IndexFunc(all.all, func(r *reconcile) bool {
		return r.ID == id || r.Inferred && slices.ContainsFunc(r.deeds, func(i int) bool { return all.deeds[i].Seq == entries[0].Seq })
	})
	if at < 0 {
		return found, nil, ErrNoReconcile
	}
	deeds = []Deed{}
	for _, i := range all.all[at].deeds {
		deeds = append(deeds, all.deeds[i])
	}
	slices.SortFunc(deeds, byTime)
	return all.all[at].Reconcile, deeds, nil
}

// userOf is the user of entries; empty if it is not known.
func userOf(entries []protocol.RecordEntry) string {
	for _, e := range entries {
		if e.By != nil && e.By.User != "" {
			return e.By.User
		}
	}
	return ""
}

// burstID is the ID of a reconcile that the log does not name, which begins with an entry.
func burstID(number uint64) string { return near + strconv.FormatUint(number, 10) }

const near = "near-"

func burst(id string) (number uint64, is bool) {
	text, is := strings.CutPrefix(id, near)
	number, err := strconv.ParseUint(text, 10, 63)
	return number, is && err == nil
}

// Alone is a deed of which it is not known to which reconcile it belongs, unless it is a line that names one.
func Alone(e protocol.RecordEntry) Deed {
	d := Deed{RecordEntry: e, Who: author(e)}
	if e.Kind == protocol.RecordLine {
		d.Text = said(e.Message)
	}
	return d
}

// said is what a line of a log says, in short.
func said(line string) string {
	l := devlog.Parse(line)
	text := l.Message
	if l.Error != "" {
		text += ": " + l.Error
	}
	for i, f := range l.Fields {
		if i == 0 {
			text += " "
		}
		text += " " + f.Name + "=" + f.Value
	}
	return text
}

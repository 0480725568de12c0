package explain

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// Refused are requests that the API server has refused, by what they were about.
type Refused struct {
	Requests []RefusedRequest `json:"requests"` // the newest first
	// Since is how far back the record was searched.
	Since time.Time `json:"since"`
}

// A RefusedRequest was refused once, or several times.
type RefusedRequest struct {
	By        string    `json:"by"`
	User      string    `json:"user"`
	Verb      string    `json:"verb"`
	Group     string    `json:"group,omitempty"`
	Resource  string    `json:"resource"`
	Namespace string    `json:"namespace,omitempty"`
	Status    int       `json:"status"`
	Reason    string    `json:"reason"`
	Message   string    `json:"message,omitempty"` // of the newest
	Marker    string    `json:"marker,omitempty"`  // gives the right that is missing
	Times     int       `json:"times"`
	Last      time.Time `json:"last"`
}

// pagesOfRefusals bounds how far back refused requests are looked for.
const pagesOfRefusals = 20

// Requests lists the refused requests of operators and users since a time. Conflicts and objects that were not found
// are left out: clients look, and try again.
func Requests(ctx context.Context, history History, since time.Time) (Refused, error) {
	type key struct{ user, verb, group, resource, namespace, reason string }
	found := map[key]*RefusedRequest{}
	q := protocol.RecordQuery{Refused: true, Since: since, Limit: mostEntries}
	all := Refused{Requests: []RefusedRequest{}, Since: since}
	for range pagesOfRefusals {
		page, err := history.Record(ctx, q)
		if err != nil {
			return all, err
		}
		for _, e := range page.Entries { // the newest first
			if e.By == nil || e.Object == nil || e.Status == 404 || triedAgain(e) || e.Kind == protocol.RecordRequest && !reads(e.By.Verb) {
				continue
			}
			k := key{e.By.User, e.By.Verb, e.Object.Group, resourceOf(e), e.Object.Namespace, reasonOf(e)}
			if found[k] == nil {
				found[k] = &RefusedRequest{
					By: author(e), User: k.user, Verb: k.verb, Group: k.group, Resource: k.resource, Namespace: k.namespace,
					Status: e.Status, Reason: k.reason, Message: plainly(e.Message), Marker: marker(e), Last: e.At,
				}
			}
			found[k].Times++
		}
		if q.Before = page.Next; page.Next == 0 {
			break
		}
		all.Since = page.SearchedTo
	}
	for _, r := range found {
		all.Requests = append(all.Requests, *r)
	}
	slices.SortFunc(all.Requests, func(a, b RefusedRequest) int {
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.User+a.Verb+a.Resource, b.User+b.Verb+b.Resource))
	})
	return all, nil
}

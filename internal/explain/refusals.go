package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// refusals finds requests about the object, what it owns and what has a name like it, that were refused and have not
// succeeded since.
func (s *scene) refusals(ctx context.Context, history History, refusals, entries []protocol.RecordEntry, operators map[string]bool) {
	type request struct{ resource, name, user, verb string }
	of := func(e protocol.RecordEntry) request {
		return request{e.Object.Group + "/" + e.Object.Resource, e.Object.Namespace + "/" + e.Object.Name, e.By.User, e.By.Verb}
	}
	done := map[request]uint64{} // the newest success
	for _, e := range entries {
		if e.Kind == protocol.RecordWrite && e.By != nil && e.Object != nil {
			any := of(e)
			any.name = e.Object.Namespace + "/"
			done[of(e)], done[any] = max(done[of(e)], e.Seq), max(done[any], e.Seq)
		}
	}
	counts, newest := map[request]int{}, map[request]protocol.RecordEntry{}
	for _, e := range refusals {
		if e.By == nil || e.Object == nil || e.Status == http.StatusNotFound || e.Seq < done[of(e)] || e.Kind == protocol.RecordRequest && !reads(e.By.Verb) {
			continue // of a write, there is an entry with the server's message
		}
		if !s.concerns(e, operators[e.By.User]) {
			continue
		}
		same := of(e)
		same.name = e.Reason // names may be generated anew for each attempt
		if counts[same]++; newest[same].Seq < e.Seq {
			newest[same] = e
		}
	}
	for _, r := range slices.SortedFunc(maps.Keys(newest), func(a, b request) int { return newestFirst(newest[a], newest[b]) }) {
		if e := newest[r]; (!triedAgain(e) || counts[r] >= mostConflicts) && !s.answered(ctx, history, e) {
			s.refusal(e, counts[r])
		}
	}
}

// ownRefusals leaves out requests to create an object without a known name that are not about the object: it says that
// it is ready, or its operator has logged that they failed for others alone. The API server refuses requests for rights
// before it reads what they would create.
func (s *scene) ownRefusals(refusals, lines []protocol.RecordEntry) []protocol.RecordEntry {
	return slices.DeleteFunc(slices.Clone(refusals), func(e protocol.RecordEntry) bool {
		if e.By == nil || e.Object == nil || e.Object.Name != "" || reads(e.By.Verb) || !strings.HasPrefix(e.By.User, "system:serviceaccount:") {
			return false
		}
		own, others := false, false
		for _, line := range lines {
			if line.Object != nil && line.Level == "error" && strings.Contains(errorOf(line.Message), fmt.Sprintf("cannot %s resource %q", e.By.Verb, e.Object.Resource)) {
				mine := line.Object.Name == s.ref.Name && line.Object.Namespace == s.ref.Namespace
				own, others = own || mine, others || !mine
			}
		}
		return !own && (others || s.members[0].says)
	})
}

// answered reports whether a read that was refused has been answered since.
func (s *scene) answered(ctx context.Context, history History, refusal protocol.RecordEntry) bool {
	if refusal.Kind != protocol.RecordRequest {
		return false
	}
	q := protocol.RecordQuery{User: refusal.By.User, Kinds: []string{protocol.RecordRequest}, Since: refusal.At, Limit: mostEntries}
	return slices.ContainsFunc(s.pages(ctx, history, q), func(e protocol.RecordEntry) bool {
		return e.Seq > refusal.Seq && e.Status < http.StatusBadRequest && e.Object != nil && e.By != nil && e.By.Verb == refusal.By.Verb &&
			e.Object.Group == refusal.Object.Group && e.Object.Resource == refusal.Object.Resource && e.Object.Namespace == refusal.Object.Namespace
	})
}

// operatorsOf are the ServiceAccounts that have written an object, or to which changes of it were delivered.
func operatorsOf(entries []protocol.RecordEntry) map[string]bool {
	users := map[string]bool{}
	for _, e := range entries {
		if e.By != nil && strings.HasPrefix(e.By.User, "system:serviceaccount:") {
			users[e.By.User] = true
		}
	}
	return users
}

// reads reports whether a verb changes nothing.
func reads(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

// triedAgain reports whether a client has met a conflict, or an object that is there already: it looks, and tries
// again.
func triedAgain(e protocol.RecordEntry) bool {
	return e.Status == http.StatusConflict && e.By != nil && e.By.Verb != "apply"
}

// mostConflicts is how often a request may meet that within the time that is looked at.
const mostConflicts = 5

// refusal adds a request that was refused as a cause.
func (s *scene) refusal(e protocol.RecordEntry, times int) {
	w := refused
	switch {
	case !isOperator(e.By.User) || s.members[0].state == Ready:
		w = admission
	case reads(e.By.Verb):
		w = operating
	}
	in := s.refOfEntry(e.Object)
	if in.Name == "" {
		in = s.ref
	}
	again := ""
	if times > 1 {
		again = fmt.Sprintf(", %d times", times)
	}
	needs := ""
	if lacking := marker(e); lacking != "" {
		needs = "; its role needs " + lacking
	}
	c := s.elsewhere(w, in, reasonOf(e), "the request of %s to %s %s was refused%s%s: %s", author(e), e.By.Verb, resourceOf(e), again, needs, cmp.Or(plainly(e.Message), fmt.Sprintf("status %d", e.Status)))
	if s.advise(c); needs != "" {
		c.Next = "slipway generate"
	}
}

// reasonOf is why a request was refused, as Kubernetes has it. Entries of reads have the status alone.
func reasonOf(e protocol.RecordEntry) string {
	if e.Reason == "" && e.Status == http.StatusForbidden {
		return string(metav1.StatusReasonForbidden)
	}
	return cmp.Or(e.Reason, "Refused")
}

// resourceOf is what a request was about, as rules have it.
func resourceOf(e protocol.RecordEntry) string {
	if e.By.Subresource != "" {
		return e.Object.Resource + "/" + e.By.Subresource
	}
	return e.Object.Resource
}

// marker is the one that gives the right that a request was refused for; empty if it was refused for something else, as
// admission does.
func marker(e protocol.RecordEntry) string {
	if e.Status != http.StatusForbidden || e.Message != "" && !strings.Contains(e.Message, " cannot ") {
		return ""
	}
	verb := e.By.Verb
	if verb == "apply" {
		verb = "patch"
	}
	return fmt.Sprintf("+kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", cmp.Or(e.Object.Group, `""`), resourceOf(e), verb)
}

// concerns reports whether a request concerns the object of the question: it is about that, about its tree, or about
// what its operator or the cluster's controllers would add to that. Operator says that the user has written the object,
// or has been woken by it.
func (s *scene) concerns(e protocol.RecordEntry, operator bool) bool {
	o, ref := e.Object, s.refOfEntry(e.Object)
	same := o.Group == s.served.Group && o.Resource == s.served.Resource
	account := strings.HasPrefix(e.By.User, "system:serviceaccount:")
	switch {
	case same && o.Name == "": // the cache of its operator lacks the kind
		return s.definition != nil && account && reads(e.By.Verb) && (o.Namespace == "" || o.Namespace == s.ref.Namespace)
	case same:
		return o.Name == s.ref.Name && o.Namespace == s.ref.Namespace
	case o.Name == "" && o.Namespace == "" && reads(e.By.Verb): // a reconciler waits for its cache, and for no longer than that
		return operator && s.members[0].unseen
	case s.ref.Namespace != "" && o.Namespace != s.ref.Namespace:
		return false
	case slices.ContainsFunc(s.members, func(m *member) bool { return m.ref() == ref }):
		return true
	case o.Name == "": // it would have been generated, or is in a body that was not read
		return operator
	case isController(e.By.User):
		return slices.ContainsFunc(s.members, func(m *member) bool { return strings.HasPrefix(o.Name, m.object.GetName()+"-") })
	}
	return account && s.definition != nil && (o.Name == s.ref.Name || strings.HasPrefix(o.Name, s.ref.Name+"-"))
}

// isController reports whether a user is the cluster's own.
func isController(user string) bool {
	return user == "system:apiserver" || user == "system:kube-controller-manager" || strings.HasPrefix(user, "system:serviceaccount:kube-system:")
}

// isOperator reports whether a user is a program that works on objects: people may be refused without being a cause.
func isOperator(user string) bool {
	return strings.HasPrefix(user, "system:serviceaccount:") || isController(user)
}

// writers finds two that undo what the other writes, and one that does not come to rest.
func (s *scene) writers(top *member, entries []protocol.RecordEntry) {
	const often = time.Minute
	flips, last := map[string]int{}, map[string]protocol.RecordEntry{}
	writes := map[string]int{}
	for _, e := range entries { // the newest first
		if e.Kind != protocol.RecordWrite || e.By == nil || e.By.Unknown || s.now.Sub(e.At) > 2*often {
			continue
		}
		if s.now.Sub(e.At) < often {
			writes[author(e)]++
		}
		for _, change := range e.Changes {
			later, has := last[change.Path]
			if has && author(later) != author(e) && slices.ContainsFunc(later.Changes, func(c protocol.RecordChange) bool {
				return c.Path == change.Path && string(c.After) == string(change.Before)
			}) {
				if flips[change.Path]++; flips[change.Path] == 3 && change.Path != "" {
					top.because(refused, "TwoWriters", "%s and %s undo each other's %s again and again: %s",
						author(e), author(later), change.Path, fieldText(change))
				}
			}
			last[change.Path] = e
		}
	}
	for by, times := range writes {
		if times >= 30 {
			top.because(symptom, "NeverAtRest", "%s has written it %d times in the last minute", by, times)
		}
	}
}

// gone says who has deleted an object that is not there.
func (s *scene) gone(top *member, entries []protocol.RecordEntry) {
	if top.state != Missing {
		return
	}
	for _, e := range entries {
		if e.Kind == protocol.RecordWrite {
			if e.Type == "deleted" {
				s.elsewhere(operating, s.ref, "Deleted", "%s has deleted it %s ago", author(e), s.now.Sub(e.At).Round(time.Second))
			}
			return
		}
	}
}

// lines finds the newest error that an operator has logged about the object, unless it has logged something else since,
// or has written the object.
func (s *scene) lines(writes, lines []protocol.RecordEntry) {
	last := uint64(0)
	for _, e := range writes {
		if e.Kind == protocol.RecordWrite && e.By != nil && isOperator(e.By.User) {
			last = max(last, e.Seq)
		}
	}
	for _, e := range lines {
		if e.Seq < last {
			return
		}
		if e.Object == nil || e.Object.Name != s.ref.Name || e.Object.Namespace != s.ref.Namespace || e.Controller != "" && !strings.EqualFold(e.Controller, s.ref.Kind) {
			continue
		}
		if e.Level == "error" {
			s.elsewhere(operating, s.ref, "ReconcileFails", "the operator %s has logged %s ago: %s", e.Operator, s.now.Sub(e.At).Round(time.Second), plainly(errorOf(e.Message)))
		}
		return
	}
}

// errorOf is the error in a line of a log as zap writes it, or the line.
func errorOf(line string) string {
	for _, key := range []string{`"error": `, `"error":`} {
		if _, value, found := strings.Cut(line, key); found {
			var text string
			if json.NewDecoder(strings.NewReader(value)).Decode(&text) == nil {
				return text
			}
		}
	}
	return line
}

package clustertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/audit"
)

// AtRest fails t if pass writes anything. A pass is one more look of the operator at objects that have not changed
// since its last one, at the same time of its clock: a call of its Reconcile, or of what a work queue calls. A
// level-based operator finds everything as it should be, and any write would cause the next pass.
func (a *Account) AtRest(t testing.TB, pass func(context.Context) error) {
	t.Helper()
	writes := a.Writes(t, func() {
		t.Helper()
		if err := pass(t.Context()); err != nil {
			t.Fatalf("clustertest: the pass failed: %v", err)
		}
	})
	for _, w := range writes {
		t.Errorf("clustertest: a pass over unchanged objects wrote: %s", w)
	}
}

// Restarted fails t if an operator that begins anew writes anything: it finds all objects as its predecessor left them.
// again runs the new operator until it has looked at all of them, and stops it; see [Observe]. Writes for which allowed
// returns true are not counted, such as those for an object by which the test notices that the others were looked at.
func (a *Account) Restarted(t testing.TB, again func(), allowed ...func(Request) bool) {
	t.Helper()
	writes := slices.DeleteFunc(a.Writes(t, again), func(w Request) bool {
		return slices.ContainsFunc(allowed, func(is func(Request) bool) bool { return is(w) })
	})
	if len(writes) > 0 {
		t.Errorf("clustertest: a new operator wrote %d times, first: %s", len(writes), writes[0])
	}
}

// calm is of how many objects one may meet a conflict. More of them are a storm, in which each write spoils others.
const calm = 10

// FewWrites fails t if bringing n objects to rest has taken the account more than each requests that write for one of
// them on average, those that were refused and repeated included, or if more than one object in ten has met a conflict.
// Events are not counted, which recorders gather. The figures are logged.
func (a *Account) FewWrites(t testing.TB, n, each int) {
	t.Helper()
	written, conflicts := 0, 0
	for _, r := range a.Requests(t) {
		if !r.Writes() || r.Resource == "events" {
			continue
		}
		written++
		if r.Conflict() {
			conflicts++
		}
	}
	figures := fmt.Sprintf("%d objects: %d writes, of which %d met a conflict", n, written, conflicts)
	t.Log(figures)
	if written > n*each || conflicts*calm > n {
		t.Errorf("clustertest: %s; want at most %d writes and %d conflicts", figures, n*each, n/calm)
	}
}

// LeastPermissions fails t unless the account has needed all of its permissions, but for those that are named in spare
// as [Account.Unused] does, and has asked for nothing else. It comes at the end of a test that sees the operator do all
// that it can do, with a manager that has the account's Config: else its informers list and watch as another user.
func (a *Account) LeastPermissions(t testing.TB, spare ...string) {
	t.Helper()
	unused, watchers := a.Unused(t), a.watchers(t)
	var informers, users []string
	for _, permission := range unused {
		user, watched := watchers[permission]
		switch {
		case slices.Contains(spare, permission):
		case watched:
			informers, users = append(informers, permission), append(users, user)
		default:
			t.Errorf("clustertest: unused permission: %s", permission)
		}
	}
	if len(informers) > 0 {
		slices.Sort(users)
		t.Errorf("clustertest: %s has listed and watched nothing, but %s has: if the manager runs under that account, give it the Config of this one; if not, these permissions are unused: %s",
			a.user(), strings.Join(slices.Compact(users), " and "), strings.Join(informers, ", "))
	}
	for _, permission := range spare {
		if !slices.Contains(unused, permission) {
			t.Errorf("clustertest: the permission is not unused: %s", permission)
		}
	}
	for _, r := range a.Requests(t) {
		if r.Refused() {
			t.Errorf("clustertest: missing permission: %s", strings.TrimSuffix(r.String(), ": 403"))
		}
	}
}

// watchers returns who watched what the account may list or watch, by the permission, if the account has done neither.
func (a *Account) watchers(t testing.TB) map[string]string {
	t.Helper()
	if slices.ContainsFunc(a.Requests(t), func(q Request) bool { return q.Verb == "list" || q.Verb == "watch" }) {
		return nil
	}
	watches, found := a.logged(t, audit.Log.Watches), map[string]string{}
	for _, r := range a.rules {
		watch := rule{"watch", r.resource}
		i := slices.IndexFunc(watches, watch.permits)
		if i >= 0 && (r.verb == "list" || r.verb == "watch") {
			found[r.String()] = watches[i].User
		}
	}
	return found
}

// Unused returns the account's permissions that no request has needed so far, each as "VERB RESOURCE.GROUP", sorted. In
// a test that sees the operator do all that it can do, these are too many.
func (a *Account) Unused(t testing.TB) []string {
	t.Helper()
	requests := a.Requests(t)
	var unused []string
	for _, r := range a.rules {
		if !slices.ContainsFunc(requests, func(q Request) bool { return !q.Refused() && r.permits(q) }) {
			unused = append(unused, r.String())
		}
	}
	slices.Sort(unused)
	return slices.Compact(unused)
}

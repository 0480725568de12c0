package clustertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
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
// that it can do.
func (a *Account) LeastPermissions(t testing.TB, spare ...string) {
	t.Helper()
	unused := a.Unused(t)
	for _, permission := range unused {
		if !slices.Contains(spare, permission) {
			t.Errorf("clustertest: unused permission: %s", permission)
		}
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

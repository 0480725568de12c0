// Copyright 2026 The apiexample authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	groupav1 "example.com/operator-demo/api/v1"
)

// Each change of foo is in the log once, and so is the end.
func TestLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	example := f.example("main", "")
	f.create(example)
	f.waitUntilSeen(example)
	f.wantCondition(example, groupav1.ReasonNoFoo)

	f.set(example, "bar")
	f.wantLogged(example, `"Foo is set" `)
	f.wantCondition(example, groupav1.ReasonWritten)
	f.set(example, "baz")
	f.wantLogged(example, `"Foo has changed" `)
	f.wantLogged(example, `"foo"="baz" "before"="bar"`)
	f.account.AtRest(t, o.pass(example))

	f.set(example, "")
	f.wantLogged(example, `"Foo is gone" `)
	f.wantCondition(example, groupav1.ReasonNoFoo)
	f.account.AtRest(t, o.pass(example))

	if err := f.user.Delete(t.Context(), example); err != nil {
		t.Fatal(err)
	}
	f.eventually("the end is logged", func() (bool, error) { return f.logged(example, `"The ApiExampleA is gone"`) == 1, nil })
	cluster.Cluster(t).WaitForEmpty(t, f.namespace)
	f.account.LeastPermissions(t)
}

func (f *fixture) wantCondition(example *groupav1.ApiExampleA, reason string) {
	f.Helper()
	if c := meta.FindStatusCondition(example.Status.Conditions, groupav1.ConditionLogged); c == nil || c.Reason != reason {
		f.Errorf("the condition is %v, want %s", c, reason)
	}
}

// The write fails, lost or unanswered. The change is in the log all the same, perhaps twice.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		example := f.example(fmt.Sprintf("interrupted-%d", n), "bar")
		f.create(example)
		f.waitUntilSeen(example)
		if f.logged(example, `"Foo is set"`) == 0 {
			t.Error("the change is not in the log")
		}
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: the status, and one to spare.
const (
	many     = 200
	attempts = 2
)

// Many at once come to rest, and a new operator neither writes nor logs a change.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	examples := make([]*groupav1.ApiExampleA, many)
	keys := make([]client.ObjectKey, many)
	for i := range examples {
		examples[i] = f.example(fmt.Sprintf("many-%d", i), "bar")
		keys[i] = client.ObjectKeyFromObject(examples[i])
		f.create(examples[i])
	}
	for _, example := range examples {
		f.waitUntilSeen(example)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
	for _, example := range examples {
		f.wantLogged(example, `"Foo is set"`)
	}
}

// What users of kubectl see, and what is refused.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	example := f.example("seen", "bar")
	f.create(example)
	f.waitUntilSeen(example)
	c := cluster.Cluster(t)
	out, err := c.Kubectl(t, "get", "apiexampleas.groupa.k8s.zhuang.com", "--namespace", f.namespace)
	if words := strings.Fields(out); err != nil || len(words) != 8 || !slices.Equal(words[:7], []string{"NAME", "FOO", "LOGGED", "AGE", "seen", "bar", "True"}) {
		t.Errorf("get prints %q, %v", out, err)
	}
	if out, err := c.Kubectl(t, "explain", "apiexamplea.spec.foo"); err != nil || !strings.Contains(out, "logs each change") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	for _, test := range []struct{ patch, want string }{
		{`{"spec":{"foo":""}}`, "spec.foo in body should be at least 1 chars long"},
		{`{"spec":{"foo":"` + strings.Repeat("a", 64) + `"}}`, "may not be more than 63"},
		{`{"spec":{"foo":1}}`, `spec.foo in body must be of type string: "integer"`},
	} {
		_, err := c.Kubectl(t, "patch", "apiexamplea", "seen", "--namespace", f.namespace, "--type=merge", "--patch", test.patch)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.patch, err, test.want)
		}
	}
}

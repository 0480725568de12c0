// Copyright 2026 The guestbook authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webappv1 "example.com/guestbook/api/v1"
)

// A Guestbook's life: its configuration comes late, it grows and shrinks, its active pod is lost, and it is deleted.
func TestLife(t *testing.T) {
	f := newFixture(t)
	o := f.start()
	guestbook := f.guestbook("main", 2)
	f.create(guestbook)
	f.waitFor(guestbook, webappv1.ReasonConfigMissing)

	f.create(f.config())
	f.waitFor(guestbook, webappv1.ReasonReady)
	f.wantPods(guestbook, "main-0", "main-1")
	f.wantEvent(guestbook, "Created") // events are written late, and AtRest counts them
	f.account.AtRest(t, o.pass(guestbook))

	f.resize(guestbook, 4)
	f.waitFor(guestbook, webappv1.ReasonReady)
	f.wantPods(guestbook, "main-0", "main-1", "main-2", "main-3")
	f.resize(guestbook, 1)
	f.waitFor(guestbook, webappv1.ReasonReady)
	f.wantPods(guestbook, "main-0")

	f.lose("main-0", guestbook)
	another := f.impersonate(guestbook)
	f.account.AtRest(t, o.pass(guestbook))

	if err := f.user.Delete(t.Context(), f.config()); err != nil {
		t.Fatal(err)
	}
	f.waitFor(guestbook, webappv1.ReasonConfigMissing)
	f.wantPods(guestbook, "main-0")

	for _, o := range []client.Object{guestbook, another} {
		if err := f.user.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	cluster.Cluster(t).WaitForEmpty(t, f.namespace)
	// Clusters that protect owners ask for the permission on finalizers; this one does not.
	f.account.LeastPermissions(t, "update guestbooks/finalizers.webapp.my.domain")
}

// resize changes the size of a Guestbook.
func (f *fixture) resize(guestbook *webappv1.Guestbook, size int32) {
	f.Helper()
	before := guestbook.DeepCopy()
	guestbook.Spec.Size = size
	if err := f.user.Patch(f.Context(), guestbook, client.MergeFrom(before)); err != nil {
		f.Fatal(err)
	}
}

// lose deletes a pod, and waits until its successor is ready and in the status.
func (f *fixture) lose(name string, guestbook *webappv1.Guestbook) {
	f.Helper()
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: f.namespace, Name: name}
	if err := f.user.Get(f.Context(), key, pod); err != nil {
		f.Fatal(err)
	}
	lost := pod.UID
	if err := f.user.Delete(f.Context(), pod); err != nil {
		f.Fatal(err)
	}
	f.eventually("the pod is replaced", func() (bool, error) {
		err := f.user.Get(f.Context(), key, pod)
		return pod.UID != lost && isReady(pod), client.IgnoreNotFound(err)
	})
	f.waitFor(guestbook, webappv1.ReasonReady)
}

// impersonate creates a pod with the labels of a Guestbook, and waits until it is ready. It is no instance, and counts
// for nothing.
func (f *fixture) impersonate(guestbook *webappv1.Guestbook) *corev1.Pod {
	f.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "another", Labels: labels(guestbook.Name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
	f.create(pod)
	f.eventually("the other pod is ready", func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(pod), pod)
		return isReady(pod), err
	})
	return pod
}

// wantPods checks the status: the first is active, the others stand by.
func (f *fixture) wantPods(guestbook *webappv1.Guestbook, names ...string) {
	f.Helper()
	if got := append([]string{guestbook.Status.Active}, guestbook.Status.Standby...); !slices.Equal(got, names) {
		f.Errorf("active and standby are %q, want %q", got, names)
	}
}

// wantEvent waits for an event about a Guestbook.
func (f *fixture) wantEvent(guestbook *webappv1.Guestbook, reason string) {
	f.Helper()
	f.eventually("an event "+reason, func() (bool, error) {
		var list corev1.EventList
		err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace))
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == guestbook.UID
		}), err
	})
}

// A StatefulSet that something else made is left alone.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	guestbook := f.guestbook("taken", 1)
	foreign := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "taken"}}
	describe(guestbook, foreign)
	foreign.Spec.Replicas = new(int32(0))
	f.create(f.config(), foreign, guestbook)
	f.waitFor(guestbook, webappv1.ReasonNameTaken)
	f.account.AtRest(t, o.pass(guestbook))

	if err := f.user.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	f.waitFor(guestbook, webappv1.ReasonReady)
}

// What the API server does not take is in the condition, with its answer, and is tried again.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "none"}}
	quota.Spec.Hard = corev1.ResourceList{"count/statefulsets.apps": {}}
	f.create(quota)
	f.eventually("the quota counts", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(quota), quota)
		return quota.Status.Hard != nil, err
	})
	guestbook := f.guestbook("refused", 1)
	f.create(f.config(), guestbook)
	f.waitFor(guestbook, webappv1.ReasonRefused)
	if message := guestbook.Status.Conditions[0].Message; !strings.Contains(message, "exceeded quota") {
		t.Errorf("the condition has not the API server's answer: %s", message)
	}
	if err := f.user.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	f.waitFor(guestbook, webappv1.ReasonReady)
}

// Each write fails once, lost or unanswered, and the Guestbook becomes ready all the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	f.create(f.config())
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		guestbook := f.guestbook(fmt.Sprintf("interrupted-%d", n), 1)
		f.create(guestbook)
		f.waitFor(guestbook, webappv1.ReasonReady)
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: the StatefulSet, the status while
// it starts and when it is ready, and one to spare.
const (
	many     = 200
	attempts = 4
)

// Many Guestbooks at once come to rest, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	f.create(f.config())
	guestbooks := make([]*webappv1.Guestbook, many)
	keys := make([]client.ObjectKey, many)
	for i := range guestbooks {
		guestbooks[i] = f.guestbook(fmt.Sprintf("many-%d", i), 1)
		keys[i] = client.ObjectKeyFromObject(guestbooks[i])
		f.create(guestbooks[i])
	}
	for _, guestbook := range guestbooks {
		f.waitFor(guestbook, webappv1.ReasonReady)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
}

// What users of kubectl see, and what is refused.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	guestbook := f.guestbook("seen", 1)
	f.create(f.config(), guestbook)
	f.waitFor(guestbook, webappv1.ReasonReady)
	c := cluster.Cluster(t)
	out, err := c.Kubectl(t, "get", "guestbooks", "--namespace", f.namespace, "--output", "wide")
	if err != nil || !slices.Equal(strings.Fields(out)[:11], []string{"NAME", "SIZE", "ACTIVE", "AVAILABLE", "REASON", "AGE", "seen", "1", "seen-0", "True", "Ready"}) {
		t.Errorf("get prints %q, %v", out, err)
	}
	if out, err := c.Kubectl(t, "explain", "guestbook.spec.size"); err != nil || !strings.Contains(out, "number of instances") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	for _, test := range []struct{ patch, want string }{
		{`{"spec":{"size":0}}`, "spec.size in body should be greater than or equal to 1"},
		{`{"spec":{"size":null}}`, "spec.size: Required value"},
		{`{"spec":{"configMapName":null}}`, "spec.configMapName: Required value"},
		{`{"spec":{"size":11}}`, "spec.size in body should be less than or equal to 10"},
		{`{"spec":{"configMapName":""}}`, "spec.configMapName in body should be at least 1 chars long"},
		{`{"spec":{"configMapName":"sixteen-letters-"}}`, "may not be more than 15"},
		{`{"spec":{"alias":"Fax"}}`, `supported values: "Phone", "Address", "Name"`},
	} {
		if _, err := c.Kubectl(t, "patch", "guestbook", "seen", "--namespace", f.namespace, "--type=merge", "--patch", test.patch); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.patch, err, test.want)
		}
	}
	if err := f.user.Create(t.Context(), f.guestbook(strings.Repeat("n", 53), 1)); err == nil || !strings.Contains(err.Error(), "so it may have 52") {
		t.Errorf("a name of 53 characters: %v", err)
	}
}

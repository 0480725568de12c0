// Copyright 2026 The democrd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	examplev1 "example.com/democrd/api/v1"
)

// A Demo's life: it is registered, its entry is lost and comes back, and its deletion removes the entry first.
func TestLife(t *testing.T) {
	f := newFixture(t)
	o := f.start()
	demo := f.create("main")
	f.waitFor(demo, examplev1.ReasonRegistered)
	want := f.namespace + `/main is "test"`
	f.wantEntry(demo, want)
	if !controllerutil.ContainsFinalizer(demo, examplev1.Finalizer) {
		t.Errorf("the finalizers are %q", demo.Finalizers)
	}
	f.account.AtRest(t, o.pass(demo))

	if err := os.Remove(f.entry(demo)); err != nil {
		t.Fatal(err)
	}
	f.account.AtRest(t, o.pass(demo)) // the entry comes back, and nothing is written in the cluster
	f.wantEntry(demo, want)

	before := demo.DeepCopy()
	demo.Spec.Name = ""
	if err := f.user.Patch(t.Context(), demo, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	f.waitFor(demo, examplev1.ReasonRegistered)
	f.wantEntry(demo, f.namespace+`/main is ""`)

	f.remove(demo)
	f.waitUntilGone(demo)
	f.wantEntry(demo, "")
	f.wantEvent(demo, "CleanedUp")
	cluster.Cluster(t).WaitForEmpty(t, f.namespace)
	f.account.LeastPermissions(t)
}

// wantEvent waits for an event about a Demo.
func (f *fixture) wantEvent(demo *examplev1.Demo, reason string) {
	f.Helper()
	f.eventually("an event "+reason, func() (bool, error) {
		var list corev1.EventList
		err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace))
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == demo.UID
		}), err
	})
}

// A Demo waits for its registry, on creation as on deletion, and says so. A Demo of another time with the same name has
// nothing to do with it.
func TestRegistryOutOfOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	f.registry.out.Store(true)
	demo := f.create("main")
	f.waitFor(demo, examplev1.ReasonRegistryFailed)
	f.wantEvent(demo, examplev1.ReasonRegistryFailed)
	f.registry.out.Store(false)
	f.waitFor(demo, examplev1.ReasonRegistered)

	f.registry.out.Store(true)
	f.remove(demo)
	f.waitFor(demo, examplev1.ReasonCleanupFailed)
	f.wantEntry(demo, f.namespace+`/main is "test"`)
	f.registry.out.Store(false)
	f.waitUntilGone(demo)
	f.wantEntry(demo, "")

	again := f.create("main")
	f.waitFor(again, examplev1.ReasonRegistered)
	f.wantEntry(demo, "")
	f.wantEntry(again, f.namespace+`/main is "test"`)
}

// A Demo that is deleted while no operator runs stays until one does.
func TestDeletedWhileDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	demo := f.create("main")
	f.waitFor(demo, examplev1.ReasonRegistered)
	o.stop()
	f.remove(demo)
	f.wantEntry(demo, f.namespace+`/main is "test"`)
	if err := f.user.Get(t.Context(), client.ObjectKeyFromObject(demo), demo); err != nil || demo.DeletionTimestamp == nil {
		t.Errorf("the Demo is not waiting for its finalizer: %v", err)
	}
	f.start()
	f.waitUntilGone(demo)
	f.wantEntry(demo, "")
}

// While another finalizer keeps a Demo, the operator has done its part.
func TestOtherFinalizer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	demo := f.create("main")
	f.waitFor(demo, examplev1.ReasonRegistered)
	before := demo.DeepCopy()
	demo.Finalizers = append(demo.Finalizers, "example.com/other")
	if err := f.user.Patch(t.Context(), demo, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	f.remove(demo)
	f.eventually("only the other finalizer is left", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(demo), demo)
		return slices.Equal(demo.Finalizers, []string{"example.com/other"}), err
	})
	f.wantEntry(demo, "")
	f.account.AtRest(t, o.pass(demo))
	before = demo.DeepCopy()
	demo.Finalizers = nil
	if err := f.user.Patch(t.Context(), demo, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	f.waitUntilGone(demo)
}

// Each write fails once, lost or unanswered: the Demo is registered all the same, and leaves no entry.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		demo := f.create(fmt.Sprintf("interrupted-%d", n))
		f.waitFor(demo, examplev1.ReasonRegistered)
		f.remove(demo)
		f.waitUntilGone(demo)
		if _, err := os.Stat(f.entry(demo)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the entry is left: %v", err)
		}
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: the finalizer, the status, and the
// finalizer again when it goes.
const (
	many     = 200
	attempts = 3
)

// Many Demos at once come to rest, a new operator leaves all of them alone, and their deletion leaves no entry.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	demos := make([]*examplev1.Demo, many)
	keys := make([]client.ObjectKey, many)
	for i := range demos {
		demos[i] = f.create(fmt.Sprintf("many-%d", i))
		keys[i] = client.ObjectKeyFromObject(demos[i])
	}
	for _, demo := range demos {
		f.waitFor(demo, examplev1.ReasonRegistered)
	}
	o.stop()
	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})

	f.start()
	if err := f.user.DeleteAllOf(t.Context(), &examplev1.Demo{}, client.InNamespace(f.namespace)); err != nil {
		t.Fatal(err)
	}
	for _, demo := range demos {
		f.waitUntilGone(demo)
		f.wantEntry(demo, "")
	}
	f.account.FewWrites(t, many, attempts)
}

// What is reported of an error is short enough for an event.
func TestShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"why": "why", strings.Repeat("é", maxMessage): strings.Repeat("é", maxMessage/2) + "…"} {
		if got := short(errors.New(text)); got != want {
			t.Errorf("%d bytes become %d: %s", len(text), len(got), got)
		}
	}
}

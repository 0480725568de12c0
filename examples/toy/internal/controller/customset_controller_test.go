// Copyright 2026 The toy authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "example.com/toy/api/v1"
)

// A CustomSet's life: kubectl scale changes it, a pod is lost, another one is evicted, and it is deleted.
func TestLife(t *testing.T) {
	f := newFixture(t)
	o := f.start()
	set := f.set("main", 2)
	f.create(set)
	f.waitFor(set, batchv1.ReasonReady)
	f.wantPods(set, "main-0", "main-1")
	f.wantEvent(set, "Scaled") // events are written late, and AtRest counts them
	f.account.AtRest(t, o.pass(set))

	f.scale(set, 4)
	f.wantPods(set, "main-0", "main-1", "main-2", "main-3")
	f.scale(set, 1)
	f.wantPods(set, "main-0")
	f.scale(set, 0)
	f.wantPods(set)
	f.scale(set, 2)

	f.replaced("main-0", set, func(pod *corev1.Pod) error { return f.user.Delete(t.Context(), pod) })
	f.replaced("main-1", set, func(pod *corev1.Pod) error {
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
		return f.user.Status().Update(t.Context(), pod)
	})
	f.wantPods(set, "main-0", "main-1")
	f.account.AtRest(t, o.pass(set))

	if err := f.user.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	cluster.Cluster(t).WaitForEmpty(t, f.namespace)
	// Clusters that protect owners ask for the permission on finalizers; this one does not.
	f.account.LeastPermissions(t, "update customsets/finalizers.batch.tutorial.kubebuilder.io")
}

// scale runs kubectl scale, and waits until it is done.
func (f *fixture) scale(set *batchv1.CustomSet, replicas int) {
	f.Helper()
	if _, err := f.kubectl("scale", "customset", set.Name, fmt.Sprintf("--replicas=%d", replicas)); err != nil {
		f.Fatal(err)
	}
	f.eventually(fmt.Sprintf("%s has %d pods", set.Name, replicas), func() (bool, error) {
		err := f.user.Get(f.Context(), client.ObjectKeyFromObject(set), set)
		return int(set.Status.ReadyReplicas) == replicas && meta.IsStatusConditionTrue(set.Status.Conditions, batchv1.ConditionAvailable), err
	})
}

// wantPods checks the pods that the selector in the status finds, and their number in it.
func (f *fixture) wantPods(set *batchv1.CustomSet, names ...string) {
	f.Helper()
	selector, err := metav1.ParseToLabelSelector(set.Status.Selector)
	if err != nil {
		f.Fatal(err)
	}
	var list corev1.PodList
	if err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace), client.MatchingLabels(selector.MatchLabels)); err != nil {
		f.Fatal(err)
	}
	var got []string
	for _, pod := range list.Items {
		got = append(got, pod.Name)
	}
	if slices.Sort(got); !slices.Equal(got, names) || int(set.Status.Replicas) != len(names) {
		f.Errorf("the selector %q finds %q, and the status counts %d; want %q", set.Status.Selector, got, set.Status.Replicas, names)
	}
}

// replaced does something to a pod, and waits for its successor.
func (f *fixture) replaced(name string, set *batchv1.CustomSet, lose func(*corev1.Pod) error) {
	f.Helper()
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: f.namespace, Name: name}
	if err := f.user.Get(f.Context(), key, pod); err != nil {
		f.Fatal(err)
	}
	lost := pod.UID
	if err := lose(pod); err != nil {
		f.Fatal(err)
	}
	f.eventually("the pod is replaced", func() (bool, error) {
		err := f.user.Get(f.Context(), key, pod)
		return pod.UID != lost && ready(*pod), client.IgnoreNotFound(err)
	})
	f.waitFor(set, batchv1.ReasonReady)
}

// wantEvent waits for an event about a CustomSet.
func (f *fixture) wantEvent(set *batchv1.CustomSet, reason string) {
	f.Helper()
	f.eventually("an event "+reason, func() (bool, error) {
		var list corev1.EventList
		err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace))
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == set.UID
		}), err
	})
}

// A pod that something else made is left alone, and its name is used when it is free.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	set := f.set("taken", 2)
	foreign := describe(set, 1)
	foreign.Labels = nil
	f.create(foreign, set)
	f.waitFor(set, batchv1.ReasonNameTaken)
	f.eventually("the other pod is ready", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(set), set)
		return set.Status.ReadyReplicas == 1, err
	})
	f.account.AtRest(t, o.pass(set))

	if err := f.user.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	f.waitFor(set, batchv1.ReasonReady)
	f.wantPods(set, "taken-0", "taken-1")
}

// What the API server does not take is in the condition, with its answer, and is tried again.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "none"}}
	quota.Spec.Hard = corev1.ResourceList{"count/pods": {}}
	f.create(quota)
	f.eventually("the quota counts", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(quota), quota)
		return quota.Status.Hard != nil, err
	})
	set := f.set("refused", 1)
	f.create(set)
	f.waitFor(set, batchv1.ReasonRefused)
	if message := set.Status.Conditions[0].Message; !strings.Contains(message, "exceeded quota") {
		t.Errorf("the condition has not the API server's answer: %s", message)
	}
	if err := f.user.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	f.waitFor(set, batchv1.ReasonReady)
}

// Each write fails once, lost or unanswered, and the CustomSet comes to rest all the same: after it grew, and after it
// shrank.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		set := f.set(fmt.Sprintf("interrupted-%d", n), 1)
		f.create(set)
		f.waitFor(set, batchv1.ReasonReady)
		before := set.DeepCopy()
		set.Spec.Replicas = new(int32(0))
		if err := f.user.Patch(t.Context(), set, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		f.waitFor(set, batchv1.ReasonReady)
		f.wantPods(set)
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: its pod, the status while it
// starts and when it is ready, and one to spare.
const (
	many     = 200
	attempts = 4
)

// Many CustomSets at once come to rest, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	sets := make([]*batchv1.CustomSet, many)
	keys := make([]client.ObjectKey, many)
	for i := range sets {
		sets[i] = f.set(fmt.Sprintf("many-%d", i), 1)
		keys[i] = client.ObjectKeyFromObject(sets[i])
		f.create(sets[i])
	}
	for _, set := range sets {
		f.waitFor(set, batchv1.ReasonReady)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
}

// The names of pods are taken apart as they were put together; others are not.
func TestParse(t *testing.T) {
	for name, want := range map[string]string{"web-0": "web 0", "a-b-12": "a-b 12", "web-01": "", "web-+1": "", "web-x": "", "-1": "", "web": ""} {
		got := ""
		if set, n, ok := parse(name); ok {
			got = fmt.Sprint(set, " ", n)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What kubectl shows of a CustomSet, and what it refuses to scale.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	set := f.set("seen", 2)
	f.create(set)
	f.waitFor(set, batchv1.ReasonReady)
	f.wantColumns("NAME DESIRED CURRENT READY AGE seen 2 2 2 *", "get", "customsets")
	f.wantColumns("NAME DESIRED CURRENT READY AGE REASON seen 2 2 2 * Ready", "get", "customsets", "--output=wide")

	raw, err := f.kubectl("get", "--raw", "/apis/batch.tutorial.kubebuilder.io/v1/namespaces/"+f.namespace+"/customsets/seen/scale")
	if err != nil || !strings.Contains(raw, `"selector":"app.kubernetes.io/instance=seen,app.kubernetes.io/managed-by=customset-controller"`) {
		t.Errorf("/scale is %s, %v", raw, err)
	}
	f.wantRefused("spec.replicas in body should be less than or equal to 100", "scale", "customset", "seen", "--replicas=101")
	f.wantRefused("--replicas", "scale", "customset", "seen", "--replicas=-1")
	f.wantRefused("Expected replicas to be 5, was 2", "scale", "customset", "seen", "--replicas=3", "--current-replicas=5")

	// What is not asked for is filled in, and a status that comes with an object is not stored.
	if _, err := f.kubectl("create", "--filename", "testdata/bare.yaml"); err != nil {
		t.Fatal(err)
	}
	bare := f.set("bare", 0)
	f.waitFor(bare, batchv1.ReasonReady)
	if *bare.Spec.Replicas != 1 || bare.Status.Replicas != 1 {
		t.Errorf("a CustomSet without a spec has %d replicas, and the status says %d", *bare.Spec.Replicas, bare.Status.Replicas)
	}
	f.wantRefused("may not be longer than 63 characters", "create", "--filename", "testdata/long.yaml")
}

// wantColumns checks what a kubectl command prints; a star stands for anything.
func (f *fixture) wantColumns(want string, command ...string) {
	f.Helper()
	out, err := f.kubectl(command...)
	got := strings.Fields(strings.ReplaceAll(out, "BRAVELY RUN AWAY", "BRAVELY-RUN-AWAY"))
	for i, word := range strings.Fields(want) {
		if word == "*" && i < len(got) {
			got[i] = word
		}
	}
	if err != nil || strings.Join(got, " ") != want {
		f.Errorf("kubectl %q prints %q, %v; want %q", command, out, err, want)
	}
}

// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "example.com/rediscluster/api/v1"
)

// A RedisCluster's life: it starts, grows and shrinks, loses pods, and is deleted.
func TestLife(t *testing.T) {
	f := newFixture(t)
	o := f.start()
	redis := f.redis("main")
	f.create(redis)
	f.waitFor(redis, redisv1.ReasonReady)
	f.wantPods(redis, 6)
	f.account.AtRest(t, o.pass(redis))

	f.change(redis, func(s *redisv1.RedisClusterSpec) { s.Size = 9 })
	f.waitFor(redis, redisv1.ReasonReady)
	f.wantPods(redis, 9)
	f.change(redis, func(s *redisv1.RedisClusterSpec) { s.Size = 7 })
	f.waitFor(redis, redisv1.ReasonReady)
	f.wantPods(redis, 7)
	f.wantEvents(redis, "Started", "Stopped")

	f.lose("main-3", func(pod *corev1.Pod) { f.remove(pod) })
	f.lose("main-4", func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodFailed
		if err := f.user.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	})
	f.lose("main-5", func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"app": "memcached"}
		if err := f.user.Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	})
	f.waitFor(redis, redisv1.ReasonReady)
	f.wantPods(redis, 7)
	f.account.AtRest(t, o.pass(redis))

	f.remove(redis)
	cluster.Cluster(t).WaitForEmpty(t, f.namespace)
	// Clusters that protect owners ask for the permission on finalizers; this one does not.
	f.account.LeastPermissions(t, "update redisclusters/finalizers.bytewang123-redis.wzj.kubebuilder.io")
}

// wantPods checks the pods of a RedisCluster: numbered, and ready.
func (f *fixture) wantPods(redis *redisv1.RedisCluster, size int) {
	f.Helper()
	var want []string
	for i := range size {
		want = append(want, podName(redis.Name, i))
	}
	pods := f.pods(redis)
	if got := slices.Sorted(maps.Keys(pods)); !slices.Equal(got, want) {
		f.Errorf("the pods are %q, want %q", got, want)
	}
	for name, pod := range pods {
		if !isReady(&pod) {
			f.Errorf("%s is not ready", name)
		}
	}
	if int(redis.Status.Ready) != size {
		f.Errorf("the status has %d ready instances, want %d", redis.Status.Ready, size)
	}
}

// lose does something to a pod, and waits until another one has its name and is ready.
func (f *fixture) lose(name string, do func(*corev1.Pod)) {
	f.Helper()
	pod := &corev1.Pod{}
	key := client.ObjectKey{Namespace: f.namespace, Name: name}
	if err := f.user.Get(f.Context(), key, pod); err != nil {
		f.Fatal(err)
	}
	lost := pod.UID
	do(pod)
	f.eventually(name+" is replaced", func() (bool, error) {
		err := f.user.Get(f.Context(), key, pod)
		return pod.UID != lost && isReady(pod), client.IgnoreNotFound(err)
	})
}

// wantEvents waits for events about a RedisCluster.
func (f *fixture) wantEvents(redis *redisv1.RedisCluster, reasons ...string) {
	f.Helper()
	for _, reason := range reasons {
		f.eventually("an event "+reason, func() (bool, error) {
			var list corev1.EventList
			err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace))
			return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
				return e.Reason == reason && e.InvolvedObject.UID == redis.UID
			}), err
		})
	}
}

// A new spec replaces the pods, one after the other.
func TestReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	redis := f.redis("replaced")
	f.create(redis)
	f.waitFor(redis, redisv1.ReasonReady)
	before := f.uids(redis)

	f.change(redis, func(s *redisv1.RedisClusterSpec) { s.Addr, s.Image = "[::]:7000", "redis:next" })
	f.waitFor(redis, redisv1.ReasonReady)
	f.wantPods(redis, 6)
	for name, pod := range f.pods(redis) {
		c := pod.Spec.Containers[0]
		if before[name] == pod.UID || c.Image != "redis:next" || !slices.Equal(c.Args[:4], []string{"--bind", "::", "--port", "7000"}) {
			t.Errorf("%s runs %s with %q", name, c.Image, c.Args)
		}
	}
}

func (f *fixture) uids(redis *redisv1.RedisCluster) map[string]types.UID {
	f.Helper()
	uids := map[string]types.UID{}
	for name, pod := range f.pods(redis) {
		uids[name] = pod.UID
	}
	return uids
}

// A pod that something else made is left alone, and does not keep the others from starting.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	foreign := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "taken-2"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "other", Image: "other"}}},
	}
	redis := f.redis("taken")
	f.create(foreign, redis)
	f.waitFor(redis, redisv1.ReasonNameTaken)
	f.eventually("the others are ready", func() (bool, error) {
		err := f.user.Get(t.Context(), client.ObjectKeyFromObject(redis), redis)
		return redis.Status.Ready == 5, err
	})
	f.account.AtRest(t, o.pass(redis))

	f.remove(foreign)
	f.waitFor(redis, redisv1.ReasonReady)
	f.wantPods(redis, 6)
}

// Two RedisClusters of one namespace do not count each other's pods, and one whose addr came past the webhook stops
// nothing.
func TestBadAddr(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	redis, other := f.redis("bad"), f.redis("bad-6")
	f.create(redis, other)
	f.waitFor(redis, redisv1.ReasonReady)
	f.waitFor(other, redisv1.ReasonReady)
	before := f.uids(redis)

	f.change(redis, func(s *redisv1.RedisClusterSpec) { s.Addr = "redis.example.com:6379" })
	f.waitFor(redis, redisv1.ReasonBadAddr)
	f.account.AtRest(t, o.pass(redis))
	f.change(redis, func(s *redisv1.RedisClusterSpec) { s.Addr = "0.0.0.0:6379" })
	f.waitFor(redis, redisv1.ReasonReady)
	if after := f.uids(redis); !maps.Equal(before, after) {
		t.Errorf("the pods were %v, and are %v", before, after)
	}
	f.wantPods(other, 6)
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
	redis := f.redis("refused")
	f.create(redis)
	f.waitFor(redis, redisv1.ReasonRefused)
	if message := redis.Status.Conditions[0].Message; !strings.Contains(message, "exceeded quota") {
		t.Errorf("the condition has not the API server's answer: %s", message)
	}
	if err := f.user.Delete(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	f.waitFor(redis, redisv1.ReasonReady)
}

// Each write fails once, lost or unanswered, and the RedisCluster becomes ready all the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	redis := f.redis("interrupted")
	f.create(redis)
	f.waitFor(redis, redisv1.ReasonReady)
	f.account.Interrupt(t, func(t *testing.T) {
		for _, size := range []int32{7, redisv1.MinSize} {
			f.change(redis, func(s *redisv1.RedisClusterSpec) { s.Size = size })
			f.waitFor(redis, redisv1.ReasonReady)
			f.wantPods(redis, int(size))
		}
	})
}

// many is how many objects come at once, and attempts how many writes each may cost: six pods, the status before they
// start and as each gets ready, and one to spare.
const (
	many     = 200
	attempts = 14
)

// Many RedisClusters at once come to rest, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	all := make([]*redisv1.RedisCluster, many)
	keys := make([]client.ObjectKey, many)
	for i := range all {
		all[i] = f.redis(fmt.Sprintf("many-%d", i))
		keys[i] = client.ObjectKeyFromObject(all[i])
		f.create(all[i])
	}
	for _, redis := range all {
		f.waitFor(redis, redisv1.ReasonReady)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
}

// What users of kubectl see, and what the schema refuses.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	redis := f.redis("seen")
	f.create(redis)
	f.waitFor(redis, redisv1.ReasonReady)
	c := cluster.Cluster(t)
	out, err := c.Kubectl(t, "get", "redisclusters", "--namespace", f.namespace, "--output", "wide")
	want := strings.Fields("NAME SIZE READY ADDR AVAILABLE REASON AGE seen 6 6 0.0.0.0:6379 True Ready")
	if err != nil || !slices.Equal(strings.Fields(out)[:len(want)], want) {
		t.Errorf("get prints %q, %v", out, err)
	}
	if out, err := c.Kubectl(t, "explain", "rediscluster.spec.addr"); err != nil || !strings.Contains(out, "as ip:port") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	for _, test := range []struct{ patch, want string }{
		{`{"spec":{"size":5}}`, "spec.size in body should be greater than or equal to 6"},
		{`{"spec":{"size":101}}`, "spec.size in body should be less than or equal to 100"},
		{`{"spec":{"addr":null}}`, "spec.addr: Required value"},
		{`{"spec":{"image":""}}`, "spec.image in body should be at least 1 chars long"},
	} {
		if _, err := c.Kubectl(t, "patch", "rediscluster", "seen", "--namespace", f.namespace, "--type=merge", "--patch", test.patch); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.patch, err, test.want)
		}
	}
	if _, err := c.Kubectl(t, "create", "--filename", c.Manifest(t, f.redis(strings.Repeat("n", 61)))); err == nil || !strings.Contains(err.Error(), "it may have 60 characters") {
		t.Errorf("a name of 61 characters: %v", err)
	}
}

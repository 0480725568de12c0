package controllers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
)

// TestQueueTriesAgain: a key comes back after pauses that grow to a limit, until it is done; its next time begins with
// the shortest.
func TestQueueTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex
		var at []time.Duration
		begin, failures := time.Now(), 6
		q := newPollingQueue("test", func(_ context.Context, key string) error {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(begin))
			if failures--; failures >= 0 {
				return errors.New("not yet")
			}
			return nil
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			q.loop(2)(ctx)
		}()
		q.keys.Add("a")
		time.Sleep(time.Minute)
		const ms = time.Millisecond
		if want := []time.Duration{0, 20 * ms, 60 * ms, 140 * ms, 300 * ms, 500 * ms, 700 * ms}; !slices.Equal(at, want) {
			t.Errorf("tried at %v, want %v", at, want)
		}
		at, begin, failures = nil, time.Now(), 1
		q.keys.Add("a")
		time.Sleep(time.Minute)
		if want := []time.Duration{0, retry}; !slices.Equal(at, want) {
			t.Errorf("the next time it is tried at %v, want %v", at, want)
		}
		stop()
		<-ended
	})
}

// TestQueueWatches: what is added, changed or, where that is wanted, removed comes into the queue, if it is what the
// controller is for.
func TestQueueWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		objects := source.NewFakeControllerSource()
		shared := cache.NewSharedIndexInformer(objects, &corev1.ConfigMap{}, 0, nil)
		var mu sync.Mutex
		var handled []string
		q := newQueue("test", func(_ context.Context, key string) error {
			mu.Lock()
			defer mu.Unlock()
			handled = append(handled, key)
			return nil
		})
		wanted := func(obj any) bool { return obj.(*corev1.ConfigMap).Labels["ours"] == "yes" }
		if err := errors.Join(q.watch(shared, wanted), q.watchGone(shared)); err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		running.Go(func() { shared.Run(ctx.Done()) })
		running.Go(func() { q.loop(1)(ctx) })
		object := func(name, ours string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"ours": ours}}}
		}
		expect := func(what string, want ...string) {
			t.Helper()
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(handled, want) {
				t.Errorf("%s: handled %q, want %q", what, handled, want)
			}
			handled = nil
		}
		objects.Add(object("a", "yes"))
		objects.Add(object("b", "no"))
		expect("added", "ns/a")
		objects.Modify(object("b", "yes"))
		expect("changed", "ns/b")
		objects.Modify(object("a", "no"))
		expect("not ours any more")
		objects.Delete(object("a", "no"))
		expect("removed", "ns/a")
		stop()
		running.Wait()
		objects.Shutdown()
	})
}

// TestTogether: loops run beside each other and are waited for.
func TestTogether(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var running, ended sync.WaitGroup
	running.Add(2)
	ended.Add(2)
	loop := func(ctx context.Context) {
		running.Done()
		<-ctx.Done()
		ended.Done()
	}
	all := make(chan struct{})
	go func() {
		defer close(all)
		together(loop, loop)(ctx)
	}()
	running.Wait()
	select {
	case <-all:
		t.Error("they have ended")
	default:
	}
	stop()
	<-all
	ended.Wait()
	together()(t.Context())
}

package controllers

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
)

// folders are data of volumes.
type folders struct {
	mu  sync.Mutex
	all map[string]bool
}

func (f *folders) List() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.all)), nil
}

func (f *folders) Remove(uid string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, uid)
	return nil
}

// TestDataGoWithTheirVolume: those of volumes that go are removed, and those that no volume is for any more when the
// cluster starts.
func TestDataGoWithTheirVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		volume := func(name string, uid types.UID, driver string) *corev1.PersistentVolume {
			v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid}}
			v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver}
			return v
		}
		objects := source.NewFakeControllerSource()
		kept, goes, another := volume("kept", "1", Provisioner), volume("goes", "2", Provisioner), volume("another", "4", "disk.example.com")
		for _, v := range []*corev1.PersistentVolume{kept, goes, another} {
			objects.Add(v)
		}
		data := &folders{all: map[string]bool{"1": true, "2": true, "3": true}}
		shared := cache.NewSharedIndexInformer(objects, &corev1.PersistentVolume{}, 0, cache.Indexers{})
		c := &volumeCleaner{volumes: corelisters.NewPersistentVolumeLister(shared.GetIndexer()), data: data}
		loop, err := c.follow(shared)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { shared.RunWithContext(ctx) })
		running.Go(func() { loop(ctx) })
		defer func() {
			cancel()
			running.Wait()
			objects.Shutdown()
		}()
		expect := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if got, _ := data.List(); !slices.Equal(got, want) {
				t.Errorf("%s there are %v, want %v", when, got, want)
			}
		}
		if !cache.WaitForCacheSync(ctx.Done(), shared.HasSynced) {
			t.Fatal("not synced")
		}
		expect("after the start", "1", "2")
		data.mu.Lock()
		data.all["4"] = true
		data.mu.Unlock()
		objects.Delete(goes)
		objects.Delete(another) // which is not ours
		expect("after a deletion", "1", "4")
		objects.Add(volume("goes", "5", Provisioner)) // another one of that name
		objects.Delete(kept)
		expect("after the next", "4")
	})
}

// TestReclaimsWhatItHasSeen: a volume is deleted as it was seen, so that a policy which became Retain since wins.
func TestReclaimsWhatItHasSeen(t *testing.T) {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{
		Name: "v", UID: "1", ResourceVersion: "7", Annotations: map[string]string{provisionedByAnnotation: Provisioner},
	}}
	v.Spec.PersistentVolumeReclaimPolicy, v.Status.Phase = corev1.PersistentVolumeReclaimDelete, corev1.VolumeReleased
	seen := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := seen.Add(v); err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset(v)
	p := &provisioner{client: client, volumes: corelisters.NewPersistentVolumeLister(seen)}
	if err := p.reclaim(t.Context(), v.Name); err != nil {
		t.Fatal(err)
	}
	for _, a := range client.Actions() {
		deletion, ok := a.(kubetesting.DeleteActionImpl)
		if !ok {
			continue
		}
		if only := deletion.DeleteOptions.Preconditions; only == nil || *only.UID != v.UID || only.ResourceVersion == nil || *only.ResourceVersion != "7" {
			t.Errorf("it is deleted if it is %+v", only)
		}
		return
	}
	t.Error("it is not deleted")
}

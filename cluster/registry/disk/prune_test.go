package disk_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/slipway-dev/slipway/cluster/registry/disk"
)

// TestPrune: what a tag leads to and led to before stays, and so does what pods use; all else is reported, goes, and is
// not there the next time.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	b := disk.New(dir, false)
	run := pushImage(t, b, "v1", "run", nil)
	old := pushImage(t, b, "v1", "old", nil)
	pushImage(t, b, "v1", "before", nil)
	pushImage(t, b, "v1", "new", nil)
	pushImage(t, b, "", "about old", &old)
	age(t, dir, 2*time.Hour)
	young := pushImage(t, b, "v2", "young", nil)
	pushImage(t, b, "v2", "younger", nil)
	pushImage(t, b, "v2", "youngest", nil)

	var uses error
	b.Uses(func() ([]ociregistry.Digest, error) { return []ociregistry.Digest{run.Digest}, uses })
	uses = errors.New("the cluster does not answer")
	if pruned, err := b.Prune(0, false); !errors.Is(err, uses) || pruned != nil {
		t.Errorf("without knowing what is used: %v, %v", pruned, err)
	}
	uses = nil
	prune := func(age time.Duration, dryRun bool, want ...ociregistry.Digest) {
		t.Helper()
		pruned, err := b.Prune(age, dryRun)
		var got []ociregistry.Digest
		for _, p := range pruned {
			got = append(got, p.Digest)
			if p.Repository != "op" || p.Size < 100 { // a manifest, a configuration and a layer
				t.Errorf("%+v", p)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("pruned %v (%v), want %v", got, err, want)
		}
	}
	prune(time.Hour, true, old.Digest)
	prune(time.Hour, false, old.Digest)
	prune(time.Hour, false)
	prune(0, true, young.Digest)
	prune(0, false, young.Digest)
	prune(0, false)
	there(t, b, map[string]bool{"run": true, "old": false, "config of old": false, "about old": false, "before": true, "new": true, "young": false, "younger": true, "youngest": true})
}

// TestPruneDuringPushes: what a push was told is there stays until its manifest is, and a manifest until its index is.
func TestPruneDuringPushes(t *testing.T) {
	dir := t.TempDir()
	b := disk.New(dir, false)
	old := pushImage(t, b, "v1", "shared", nil)
	for _, data := range []string{"second", "third"} {
		pushImage(t, b, "v1", data, nil)
	}
	there(t, b, map[string]bool{"shared": true}) // as a push asks that has this layer too
	pushBlob(t, b, "on its way")
	child := pushImage(t, b, "", "of an index", nil)
	pruned, err := b.Prune(0, false)
	if err != nil || len(pruned) != 1 || pruned[0].Digest != old.Digest {
		t.Errorf("%+v, %v", pruned, err)
	}
	if _, err := b.ResolveManifest(t.Context(), "op", child.Digest); err != nil {
		t.Error(err)
	}
	there(t, b, map[string]bool{"shared": true, "config of shared": false, "on its way": true, "of an index": true})
	// Once it is superseded the same contents go.
	pushImage(t, b, "v2", "shared", nil)
	for _, data := range []string{"second", "third"} {
		pushImage(t, b, "v2", data, nil)
	}
	if pruned, err := b.Prune(0, false); err != nil || len(pruned) != 1 {
		t.Errorf("%+v, %v", pruned, err)
	}
	there(t, b, map[string]bool{"shared": false})
}

// TestPrunesAtOnce: two prunes beside pushes let each push succeed, report each image once, and keep the newest two.
func TestPrunesAtOnce(t *testing.T) {
	const pushes = 20
	b := disk.New(t.TempDir(), false)
	done := make(chan struct{})
	var group sync.WaitGroup
	var pruned [2][]ociregistry.Digest
	for i := range pruned {
		group.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true // once more
				default:
				}
				some, err := b.Prune(0, false)
				if err != nil {
					t.Error(err)
				}
				for _, p := range some {
					pruned[i] = append(pruned[i], p.Digest)
				}
			}
		})
	}
	var all []ociregistry.Digest
	for i := range pushes {
		pushBlob(t, b, "shared")
		all = append(all, pushImage(t, b, "v1", strconv.Itoa(i), nil).Digest)
	}
	close(done)
	group.Wait()
	got, want := slices.Concat(pruned[0], pruned[1]), all[:pushes-2]
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.DeleteFunc(got, func(d ociregistry.Digest) bool { return d == "" }); !slices.Equal(got, want) {
		t.Errorf("%d images are pruned, want %d once each", len(got), len(want))
	}
	there(t, b, map[string]bool{"0": false, strconv.Itoa(pushes - 2): true, strconv.Itoa(pushes - 1): true, "shared": true})
}

package disk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
	"github.com/opencontainers/go-digest"

	"github.com/slipway-dev/slipway/cluster/registry/disk"
)

const manifestType = "application/vnd.oci.image.manifest.v1+json"

// pushBlob pushes contents.
func pushBlob(t *testing.T, b *disk.Backend, data string) ociregistry.Descriptor {
	t.Helper()
	d := ociregistry.Descriptor{Digest: digest.FromString(data), Size: int64(len(data))}
	if _, err := b.PushBlob(t.Context(), "op", d, bytes.NewReader([]byte(data))); err != nil {
		t.Fatal(err)
	}
	return d
}

// pushImage pushes an image of one layer that holds data.
func pushImage(t *testing.T, b *disk.Backend, tag, data string, subject *ociregistry.Descriptor) ociregistry.Descriptor {
	t.Helper()
	config, layer := pushBlob(t, b, "config of "+data), pushBlob(t, b, data)
	text, err := json.Marshal(map[string]any{"schemaVersion": 2, "config": config, "layers": []any{layer}, "subject": subject})
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.PushManifest(t.Context(), "op", tag, text, manifestType)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// age has all files look as if they had last been used that long ago.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// there says whether contents and manifests are there, by what sweeps when it is first asked.
func there(t *testing.T, b *disk.Backend, want map[string]bool) {
	t.Helper()
	for data, want := range want {
		_, err := b.ResolveBlob(context.Background(), "op", digest.FromString(data))
		if got := err == nil; got != want {
			t.Errorf("%q is there: %v (%v), want %v", data, got, err, want)
		}
	}
}

// imageDigest is the digest of an image of [pushImage].
func imageDigest(t *testing.T, data string) ociregistry.Digest {
	t.Helper()
	return pushImage(t, disk.New(t.TempDir(), false), "", data, nil).Digest
}

func TestSweepKeepsWhatTagsLeadTo(t *testing.T) {
	dir := t.TempDir()
	b := disk.New(dir, false)
	pushImage(t, b, "v1", "run", nil)
	pushImage(t, b, "v1", "old", nil)
	pushImage(t, b, "v1", "before", nil)
	tagged := pushImage(t, b, "v1", "new", nil)
	pushImage(t, b, "", "about new", &tagged)
	pushBlob(t, b, "of nothing")
	age(t, dir, 48*time.Hour)
	recent := pushImage(t, b, "", "by digest", nil)
	age(t, filepath.Join(dir, "blobs"), 48*time.Hour)

	runs := imageDigest(t, "run")
	again := disk.New(dir, false)
	again.Uses(func() ([]ociregistry.Digest, error) { return nil, errors.New("the cluster does not answer") })
	there(t, again, map[string]bool{"old": true})
	age(t, dir, 2*time.Hour)
	again = disk.New(dir, false)
	again.Uses(func() ([]ociregistry.Digest, error) { return []ociregistry.Digest{runs}, nil })
	pushBlob(t, b, "on its way")
	if _, err := b.ResolveManifest(t.Context(), "op", recent.Digest); err != nil {
		t.Fatal(err)
	}
	there(t, again, map[string]bool{
		"run": true, "config of run": true, "before": true, "old": false, "config of old": false, "new": true, "config of new": true, "about new": true,
		"of nothing": false, "by digest": true, "on its way": true,
	})
	if _, err := again.ResolveManifest(t.Context(), "op", recent.Digest); err != nil {
		t.Error(err)
	}
	if _, err := again.ResolveTag(t.Context(), "op", "v1"); err != nil {
		t.Error(err)
	}
}

func TestSweepKeepsWhatIndexesLeadTo(t *testing.T) {
	dir := t.TempDir()
	b := disk.New(dir, false)
	one := pushImage(t, b, "", "one", nil)
	text, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": []any{one}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.PushManifest(t.Context(), "op", "v1", text, "application/vnd.oci.image.index.v1+json"); err != nil {
		t.Fatal(err)
	}
	age(t, dir, 48*time.Hour)
	again := disk.New(dir, false)
	there(t, again, map[string]bool{"one": true})
	if _, err := again.ResolveManifest(t.Context(), "op", one.Digest); err != nil {
		t.Error(err)
	}
}

func TestAskedForIsKept(t *testing.T) {
	dir := t.TempDir()
	b := disk.New(dir, false)
	old := pushImage(t, b, "", "old", nil)
	pushBlob(t, b, "skipped")
	age(t, dir, 48*time.Hour)
	// The first sweep was with the first push; these ask before the next one.
	if _, err := b.ResolveManifest(t.Context(), "op", old.Digest); err != nil {
		t.Fatal(err)
	}
	there(t, b, map[string]bool{"skipped": true})
	there(t, disk.New(dir, false), map[string]bool{"old": true, "skipped": true})
}

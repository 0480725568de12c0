package store_test

import (
	"errors"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/store"
)

// enormous is an image whose manifest has layers that no disk has room for.
type enormous struct{ v1.Image }

func (e enormous) Manifest() (*v1.Manifest, error) {
	m, err := e.Image.Manifest()
	if err != nil {
		return nil, err
	}
	m = m.DeepCopy()
	m.Layers = append(m.Layers, v1.Descriptor{Digest: v1.Hash{Algorithm: "sha256", Hex: "abc"}, Size: 1 << 60})
	return m, nil
}

// TestNoRoom: an image that does not fit on the disk is refused before anything of it is written.
func TestNoRoom(t *testing.T) {
	s := store.Store{Dir: t.TempDir()}
	put(t, s, "one", build(t, "one"))
	kept := blobs(t, s)
	if _, known := s.Free(); !known {
		t.Skip("this system does not say how much room a disk has")
	}
	two := store.Image{Image: enormous{build(t, "two").Image}}
	for what, err := range map[string]error{"fetched": s.Fetch(two), "put": s.Put(t.Context(), tag(t, "two"), two)} {
		var full *store.NoRoomError
		if !errors.As(err, &full) || full.Needed < 1<<60 || full.Free == 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := blobs(t, s); got != kept {
		t.Errorf("%d blobs are left, and there were %d", got, kept)
	}
}

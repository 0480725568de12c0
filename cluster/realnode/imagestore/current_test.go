package imagestore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/cluster/registry"
)

// site is a cluster's registry and a node's store beside it.
type site struct {
	*testing.T
	registry *registry.Registry
	store    *Store
}

func newSite(t *testing.T) *site {
	t.Helper()
	r, err := registry.Start(registry.Options{Dir: filepath.Join(t.TempDir(), "registry")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	s := &site{T: t, registry: r, store: &Store{dir: t.TempDir()}}
	s.restart()
	return s
}

// restart is what a node's store goes through with the node.
func (s *site) restart() {
	s.Helper()
	store, err := Open(s.store.dir, Options{Registry: s.registry.Address()})
	if err != nil {
		s.Fatal(err)
	}
	s.store = store
}

// marked is an image with a file that tells it from others.
func (s *site) marked(mark string) v1.Image {
	s.Helper()
	return imageOf(s.T, layer(s.T, entry{name: "which", text: mark}))
}

// push puts an image into the cluster's registry and returns its digest.
func (s *site) push(ref string, image v1.Image) string {
	s.Helper()
	r, err := name.ParseReference(s.registry.Address() + "/" + ref)
	if err != nil {
		s.Fatal(err)
	}
	if err := remote.Write(r, image); err != nil {
		s.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		s.Fatal(err)
	}
	return digest.String()
}

// runs fails unless a pod of that image would run the one with the mark.
func (s *site) runs(ref, mark string) Image {
	s.Helper()
	image, err := s.store.Current(s.Context(), ref)
	if err != nil {
		s.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(image.Root, "which")); err != nil || string(got) != mark {
		s.Errorf("%s runs %q (%v), not %q", ref, got, err, mark)
	}
	return image
}

const loaded = "index.docker.io/library/"

// TestCurrent: what was loaded or pushed again is what runs next, whatever the node has under that name.
func TestCurrent(t *testing.T) {
	s := newSite(t)
	pushed := s.registry.Address() + "/op:v1"
	s.push(loaded+"op:v1", s.marked("one"))
	s.push("op:v1", s.marked("pushed one"))
	s.runs("op:v1", "one")
	s.runs(pushed, "pushed one")
	digest := s.push(loaded+"op:v1", s.marked("two"))
	s.push("op:v1", s.marked("pushed two"))
	image := s.runs("op:v1", "two")
	s.runs(pushed, "pushed two")
	if got, want := image.Reference("op:v1"), loaded+"op@"+digest; got != want {
		t.Errorf("the pod's status has %s, want %s", got, want)
	}
	s.push(loaded+"op:v1", s.marked("one"))
	s.runs("op:v1", "one") // whose files are there already
	s.restart()
	s.runs("op:v1", "one")
}

// TestCurrentWithoutQuestion: a pull policy that pulls never gets what the cluster has, and nothing else.
func TestCurrentWithoutQuestion(t *testing.T) {
	s := newSite(t)
	if _, err := s.store.Current(t.Context(), "op:v1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an image that is nowhere: %v", err)
	}
	s.push(loaded+"op:v1", s.marked("one"))
	s.runs("op:v1", "one")
	s.push("localhost_5000/op:v1", s.marked("other"))
	s.runs("localhost:5000/op:v1", "other")
}

// TestPinnedStays: a digest leads to one image, and an ID too.
func TestPinnedStays(t *testing.T) {
	s := newSite(t)
	digest := s.push(loaded+"op:v1", s.marked("one"))
	image := s.runs("op@"+digest, "one")
	s.push(loaded+"op:v1", s.marked("two"))
	s.runs("op@"+digest, "one")
	s.runs(image.ID, "one")
	s.runs("op:v1", "two")
	s.runs("op@"+digest, "one")
}

// TestUntagged: an image whose tag the registry lost is still the node's, as one that was pulled elsewhere is.
func TestUntagged(t *testing.T) {
	s := newSite(t)
	s.push(loaded+"op:v1", s.marked("one"))
	s.runs("op:v1", "one")
	at, err := name.ParseReference(s.registry.Address() + "/" + loaded + "op:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Delete(at); err != nil {
		t.Fatal(err)
	}
	s.runs("op:v1", "one")
	if err := s.registry.Close(); err != nil {
		t.Fatal(err)
	}
	if image, err := s.store.Current(t.Context(), "op:v1"); err == nil {
		t.Errorf("without an answer of the registry it runs %s", image.ID)
	}
}

// TestOneClaimsATag: after a restart of the node as before it.
func TestOneClaimsATag(t *testing.T) {
	s := newSite(t)
	claims := func() (marks []string) {
		for _, image := range s.store.List() {
			if slices.Contains(image.Tags, loaded+"op:v1") {
				mark, _ := os.ReadFile(filepath.Join(image.Root, "which"))
				marks = append(marks, string(mark))
			}
		}
		return marks
	}
	for _, mark := range []string{"one", "two", "three", "one", "two"} {
		s.push(loaded+"op:v1", s.marked(mark))
		s.runs("op:v1", mark)
		s.restart()
		if got := claims(); !slices.Equal(got, []string{mark}) {
			t.Errorf("after %s the tag is claimed by %q", mark, got)
		}
	}
}

// TestOldClaims: a folder in which an earlier version left a tag with two images.
func TestOldClaims(t *testing.T) {
	s := newSite(t)
	s.push(loaded+"op:v1", s.marked("one"))
	first := s.runs("op:v1", "one")
	s.push(loaded+"op:v1", s.marked("two"))
	s.runs("op:v1", "two")
	about := filepath.Join(filepath.Dir(first.Root), aboutFile)
	before, err := os.Stat(about)
	if err != nil {
		t.Fatal(err)
	}
	old := first
	old.Origins = nil
	if err := old.write(); err != nil {
		t.Fatal(err)
	}
	longAgo := before.ModTime().Add(-1e9)
	if err := os.Chtimes(about, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.restart()
		if image, err := s.store.Get("op:v1"); err != nil || image.ID == first.ID {
			t.Errorf("the tag leads to %s (%v)", image.ID, err)
		}
		s.runs("op:v1", "two")
	}
}

// TestPullWhileTagMoves: who comes after an image was pushed does not get what a pull that began before brings.
func TestPullWhileTagMoves(t *testing.T) {
	s := newSite(t)
	s.push(loaded+"op:v1", s.marked("one"))
	at, err := s.store.locate(t.Context(), "op:v1")
	if err != nil {
		t.Fatal(err)
	}
	under := &pull{done: make(chan struct{})} // it does not end
	s.store.pulls[wanted{ref: "op:v1", digest: at.digest()}] = under
	s.push(loaded+"op:v1", s.marked("two"))
	s.runs("op:v1", "two")
	if image, err := s.store.Pull(t.Context(), "op:v1", nil); err != nil || image.ID != s.runs("op:v1", "two").ID {
		t.Errorf("pulled %s (%v)", image.ID, err)
	}
}

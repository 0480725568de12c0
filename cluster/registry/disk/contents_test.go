package disk_test

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cuelabs.dev/go/oci/ociregistry"
	"github.com/opencontainers/go-digest"

	"github.com/slipway-dev/slipway/cluster/registry/disk"
)

// all are the elements of a sequence that has no error.
func all[T any](t *testing.T, seq iter.Seq2[T, error]) (list []T) {
	t.Helper()
	for e, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// read reads contents to their end.
func read(t *testing.T, r ociregistry.BlobReader, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// uploads are the files that are being pushed.
func uploads(t *testing.T, dir string) int {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(dir, "uploads"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestRanges(t *testing.T) {
	b := disk.New(t.TempDir(), true)
	d := pushBlob(t, b, "0123456789")
	for _, tt := range []struct {
		from, to int64
		want     string
	}{{0, -1, "0123456789"}, {0, 10, "0123456789"}, {2, 5, "234"}, {8, 99, "89"}, {3, -1, "3456789"}, {7, 7, ""}, {9, 4, ""}, {20, 30, ""}} {
		r, err := b.GetBlobRange(t.Context(), "op", d.Digest, tt.from, tt.to)
		if err == nil && r.Descriptor().Size != d.Size {
			t.Errorf("from %d to %d: the whole has %d bytes", tt.from, tt.to, r.Descriptor().Size)
		}
		if got := read(t, r, err); got != tt.want {
			t.Errorf("from %d to %d: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
	for _, unknown := range []ociregistry.Digest{digest.FromString("absent"), "sha512:ab", "sha256:../../x", ""} {
		if _, err := b.GetBlob(t.Context(), "op", unknown); !errors.Is(err, ociregistry.ErrBlobUnknown) {
			t.Errorf("%q: %v", unknown, err)
		}
		if _, err := b.MountBlob(t.Context(), "op", "other", unknown); !errors.Is(err, ociregistry.ErrBlobUnknown) {
			t.Errorf("%q elsewhere: %v", unknown, err)
		}
	}
	if got, err := b.MountBlob(t.Context(), "op", "other", d.Digest); err != nil || got.Size != d.Size {
		t.Errorf("what one repository has: %+v, %v", got, err)
	}
}

// TestUploadInPieces: an upload is gone on with where it was left, by its name alone, and has its place once it has its
// digest.
func TestUploadInPieces(t *testing.T) {
	dir := t.TempDir()
	b := disk.New(dir, false)
	u, err := b.PushBlobChunked(t.Context(), "op", 0)
	if err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer, text string) {
		t.Helper()
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	write(u, "one ")
	if err := errors.Join(u.Close(), u.Close()); err != nil {
		t.Fatal(err)
	}
	wrong, err := b.PushBlobChunkedResume(t.Context(), "op", u.ID(), 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(wrong, "x"); !errors.Is(err, ociregistry.ErrRangeInvalid) {
		t.Errorf("a piece that leaves out some: %v", err)
	}
	if err := wrong.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"12345", "", "../blobs", "..", "1/2", "-1"} {
		if _, err := b.PushBlobChunkedResume(t.Context(), "op", id, 0, 0); !errors.Is(err, ociregistry.ErrBlobUploadUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
	again, err := b.PushBlobChunkedResume(t.Context(), "op", u.ID(), 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	if again.Size() != 4 || again.ID() != u.ID() {
		t.Errorf("%s has %d bytes", again.ID(), again.Size())
	}
	write(again, "two")
	write(again, " three")
	d := digest.FromString("one two three")
	if _, err := again.Commit(ociregistry.Digest("sha512:" + d.Encoded() + d.Encoded())); !errors.Is(err, ociregistry.ErrUnsupported) {
		t.Errorf("by another kind of digest: %v", err)
	}
	if got, err := again.Commit(d); err != nil || got.Size != 13 || got.Digest != d {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := errors.Join(again.Cancel(), again.Close()); err != nil {
		t.Errorf("after that: %v", err)
	}
	r, err := b.GetBlob(t.Context(), "op", d)
	if got := read(t, r, err); got != "one two three" {
		t.Errorf("%q", got)
	}
	if n := uploads(t, dir); n != 0 {
		t.Errorf("%d uploads are left", n)
	}
}

// TestUploadsThatAreNone leave nothing: of another digest, of another size, given up, or broken off.
func TestUploadsThatAreNone(t *testing.T) {
	dir := t.TempDir()
	b := disk.New(dir, false)
	d := ociregistry.Descriptor{Digest: digest.FromString("right"), Size: 5}
	if _, err := b.PushBlob(t.Context(), "op", d, bytes.NewReader([]byte("wrong"))); !errors.Is(err, ociregistry.ErrDigestInvalid) {
		t.Errorf("another digest: %v", err)
	}
	if _, err := b.PushBlob(t.Context(), "op", d, bytes.NewReader([]byte("longer"))); !errors.Is(err, ociregistry.ErrSizeInvalid) {
		t.Errorf("another size: %v", err)
	}
	broken := errors.New("broken off")
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(broken) }()
	if _, err := b.PushBlob(t.Context(), "op", d, r); !errors.Is(err, broken) {
		t.Errorf("broken off: %v", err)
	}
	u, err := b.PushBlobChunked(t.Context(), "op", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Cancel(); err != nil {
		t.Fatal(err)
	}
	if n := uploads(t, dir); n != 0 {
		t.Errorf("%d uploads are left", n)
	}
	if _, err := b.ResolveBlob(t.Context(), "op", d.Digest); !errors.Is(err, ociregistry.ErrBlobUnknown) {
		t.Errorf("it is there: %v", err)
	}
}

// TestManifestsAreChecked: a repository takes what is a manifest and whole, under names that can be had.
func TestManifestsAreChecked(t *testing.T) {
	b := disk.New(t.TempDir(), false)
	long := string(bytes.Repeat([]byte("a"), 256))
	for _, tt := range []struct {
		repo, tag, text string
		want            error
	}{
		{"op", "v1", `{"config":{"digest":"` + digest.FromString("absent").String() + `"}}`, ociregistry.ErrManifestBlobUnknown},
		{"op", "v1", `{"layers":[{"digest":"nonsense"}]}`, ociregistry.ErrManifestBlobUnknown},
		{"op", "v1", `{"layers":[{"digest":"nonsense","urls":["https://example.com"]}]}`, nil},
		{"op", "v1", `{`, ociregistry.ErrManifestInvalid},
		{"../up", "v1", `{}`, ociregistry.ErrNameInvalid}, {"op", "a/b", `{}`, ociregistry.ErrNameInvalid}, {long, "v1", `{}`, ociregistry.ErrNameInvalid},
		{"deep/er/op", "", `{}`, nil},
	} {
		if _, err := b.PushManifest(t.Context(), tt.repo, tt.tag, []byte(tt.text), manifestType); !errors.Is(err, tt.want) {
			t.Errorf("%s:%s %s: %v, want %v", tt.repo, tt.tag, tt.text, err, tt.want)
		}
	}
	if got := all(t, b.Repositories(t.Context(), "")); !slices.Equal(got, []string{"deep/er/op", "op"}) {
		t.Errorf("repositories %q", got)
	}
	if got := all(t, b.Repositories(t.Context(), "deep/er/op")); !slices.Equal(got, []string{"op"}) {
		t.Errorf("repositories after the first: %q", got)
	}
}

// TestTags: they are listed in order, differ by the case of letters, and lead to manifests until these are removed.
func TestTags(t *testing.T) {
	b := disk.New(t.TempDir(), false)
	first := pushImage(t, b, "v1", "first", nil)
	second := pushImage(t, b, "V1", "second", nil)
	pushImage(t, b, "latest", "second", nil)
	pushImage(t, b, "", "about", &first)
	if got := all(t, b.Tags(t.Context(), "op", "")); !slices.Equal(got, []string{"V1", "latest", "v1"}) {
		t.Errorf("tags %q", got)
	}
	if got := all(t, b.Tags(t.Context(), "op", "b")); !slices.Equal(got, []string{"latest", "v1"}) {
		t.Errorf("tags after b: %q", got)
	}
	for _, err := range b.Tags(t.Context(), "none", "") {
		if !errors.Is(err, ociregistry.ErrNameUnknown) {
			t.Errorf("of no repository: %v", err)
		}
	}
	about := all(t, b.Referrers(t.Context(), "op", first.Digest, ""))
	if len(about) != 1 || len(all(t, b.Referrers(t.Context(), "op", first.Digest, "another/kind"))) != 0 || len(all(t, b.Referrers(t.Context(), "op", second.Digest, ""))) != 0 {
		t.Errorf("about the first: %+v", about)
	}
	for tag, want := range map[string]ociregistry.Digest{"v1": first.Digest, "V1": second.Digest, "latest": second.Digest} {
		r, err := b.GetTag(t.Context(), "op", tag)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Descriptor(); got.Digest != want || got.MediaType != manifestType || digest.FromString(read(t, r, nil)) != want {
			t.Errorf("%s leads to %+v", tag, got)
		}
	}
	if err := b.DeleteManifest(t.Context(), "op", second.Digest); err != nil {
		t.Fatal(err)
	}
	if got := all(t, b.Tags(t.Context(), "op", "")); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("tags of what is left: %q", got)
	}
	if err := b.DeleteTag(t.Context(), "op", "v1"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"a tag that was removed":      b.DeleteTag(t.Context(), "op", "v1"),
		"a manifest that was removed": b.DeleteManifest(t.Context(), "op", second.Digest),
		"no digest":                   b.DeleteManifest(t.Context(), "op", "sha512:ab"),
	} {
		if !errors.Is(err, ociregistry.ErrManifestUnknown) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.GetTag(t.Context(), "op", "v1"); !errors.Is(err, ociregistry.ErrManifestUnknown) {
		t.Errorf("a tag that was removed: %v", err)
	}
	r, err := b.GetManifest(t.Context(), "op", first.Digest)
	if got := read(t, r, err); digest.FromString(got) != first.Digest {
		t.Errorf("what it pointed to: %s", got)
	}
}

package transfer

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/slipway-dev/slipway/internal/image/store"
)

const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
)

// indexes is a registry that has manifests under their digests, and whose other contents never end.
type indexes struct {
	address   string
	manifests map[string]string // text by digest
	sent      atomic.Int64      // bytes of the contents without end
}

func newIndexes(t *testing.T) *indexes {
	t.Helper()
	r := &indexes{manifests: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.address = strings.TrimPrefix(server.URL, "http://")
	return r
}

func (r *indexes) serve(w http.ResponseWriter, request *http.Request) {
	_, digest, isManifest := strings.Cut(request.URL.Path, "/manifests/")
	switch {
	case isManifest:
		kind := mediaManifest
		if strings.Contains(r.manifests[digest], `"manifests"`) {
			kind = mediaIndex
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, r.manifests[digest])
	case strings.Contains(request.URL.Path, "/blobs/"):
		for zeros := make([]byte, 1<<16); ; {
			n, err := w.Write(zeros)
			if r.sent.Add(int64(n)); err != nil {
				return
			}
		}
	}
}

// add gives a manifest its place and returns its descriptor.
func (r *indexes) add(kind, text string) string {
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	r.manifests[digest] = text
	return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, kind, digest, len(text))
}

// of is the digest of an index with these descriptors.
func (r *indexes) of(t *testing.T, descriptors ...string) name.Digest {
	t.Helper()
	text := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[%s]}`, mediaIndex, strings.Join(descriptors, ","))
	r.add(mediaIndex, text)
	digest, err := name.NewDigest(fmt.Sprintf("%s/team/app@sha256:%x", r.address, sha256.Sum256([]byte(text))))
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// layered is a manifest with a layer of its own.
func layered(n int, size int64) string {
	return fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%064x","size":2},`+
		`"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"sha256:%064x","size":%d}]}`, 0xc0+n, 0xa0+n, size)
}

// TestPullRefusesHostileIndexes: all platforms together have one limit, and an index lists images alone.
func TestPullRefusesHostileIndexes(t *testing.T) {
	for _, c := range []struct {
		what string
		of   func(*indexes) []string
		want error
	}{
		{"three platforms of 30 GiB", func(r *indexes) (all []string) {
			for i := range 3 {
				all = append(all, r.add(mediaManifest, layered(i, 30<<30)))
			}
			return all
		}, errLarge},
		{"65 platforms", func(r *indexes) (all []string) {
			for i := range maxPlatforms + 1 {
				all = append(all, r.add(mediaManifest, layered(i, 1)))
			}
			return all
		}, errLarge},
		{"a manifest of 5 MiB", func(r *indexes) []string {
			return []string{r.add(mediaManifest, layered(0, 1)+strings.Repeat(" ", 5<<20))}
		}, errLarge},
		{"contents that are no image", func(r *indexes) []string {
			return []string{r.add("application/octet-stream", layered(0, 1))}
		}, errOther},
		{"an index in the index", func(r *indexes) []string {
			return []string{r.add(mediaIndex, fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[%s]}`, mediaIndex, r.add(mediaManifest, layered(0, 1))))}
		}, errOther},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := newIndexes(t)
			if _, err := (Registries{}).PullDigest(t.Context(), r.of(t, c.of(r)...)); !errors.Is(err, c.want) {
				t.Errorf("it was pulled, or refused for another reason: %v", err)
			}
			if sent := r.sent.Load(); sent > 0 {
				t.Errorf("%d bytes of contents were asked for", sent)
			}
		})
	}
}

// TestLayerWithoutEnd: no more of a layer is read than its manifest says, and nothing of it stays.
func TestLayerWithoutEnd(t *testing.T) {
	r := newIndexes(t)
	img, err := (Registries{}).PullDigest(t.Context(), r.of(t, r.add(mediaManifest, layered(0, 1000))))
	if err != nil {
		t.Fatal(err)
	}
	s := store.Store{Dir: t.TempDir()}
	if err := s.Fetch(img); err == nil {
		t.Error("a layer without end was kept")
	}
	if err := s.Clean(t.Context()); err != nil {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(s.Dir, "layout", "blobs", "*", "*")); len(found) > 0 {
		t.Error("left over:", found)
	}
}

// TestCopyWithin: what a compressed archive becomes has limits, of which the disk's names the room.
func TestCopyWithin(t *testing.T) {
	archive := func() io.Reader { return strings.NewReader(strings.Repeat("x", 100)) }
	if err := copyWithin(io.Discard, archive(), 100, 100); err != nil {
		t.Error("as much as is allowed:", err)
	}
	if err := copyWithin(io.Discard, archive(), 99, 1000); !errors.Is(err, errLarge) {
		t.Error("more than the limit:", err)
	}
	if err := copyWithin(io.Discard, archive(), 1000, 99); !isNoRoom(err) {
		t.Error("more than the disk has room for:", err)
	}
}

// TestHostileDockerArchives: what the library reads at once is small, and an archive has no holes.
func TestHostileDockerArchives(t *testing.T) {
	write := func(files ...string) string {
		var text bytes.Buffer
		w := tar.NewWriter(&text)
		for i := 0; i < len(files); i += 2 {
			err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644})
			if err == nil {
				_, err = io.WriteString(w, files[i+1])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "archive.tar")
		if err := errors.Join(w.Close(), os.WriteFile(path, text.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const small = `[{"Config":"config.json","RepoTags":["app:v1"],"Layers":[]}]`
	for what, path := range map[string]string{
		"a large manifest":      write("manifest.json", small+strings.Repeat(" ", maxManifest)),
		"a large configuration": write("manifest.json", small, "config.json", "{}"+strings.Repeat(" ", maxConfig)),
	} {
		if _, err := Open(t.Context(), path, t.TempDir()); !errors.Is(err, errLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
	large := strings.Repeat(" ", maxConfig+1)
	linked := write("manifest.json", small, "config.json", "", "large", large)
	text, err := os.ReadFile(linked)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []byte{tar.TypeLink, tar.TypeSymlink} {
		if err := os.WriteFile(linked, asLink(t, text, "config.json", "large", kind), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), linked, t.TempDir()); !errors.Is(err, errLarge) {
			t.Errorf("a configuration that is a link to a large file: %v", err)
		}
	}
	tags := `"app:v1"` + strings.Repeat(`,"app:v1"`, maxTags)
	if _, err := Open(t.Context(), write("manifest.json", strings.Replace(small, `"app:v1"`, tags, 1), "config.json", "{}"), t.TempDir()); !errors.Is(err, errLarge) {
		t.Errorf("many names: %v", err)
	}
	many := make([]string, 0, 2*maxFiles+4)
	for i := range maxFiles + 1 {
		many = append(many, fmt.Sprint(i), "")
	}
	if _, err := Open(t.Context(), write(append(many, "manifest.json", small)...), t.TempDir()); !errors.Is(err, errLarge) {
		t.Errorf("many files: %v", err)
	}
	if _, err := Open(t.Context(), write("manifest.json", small, "config.json", "{}"), t.TempDir()); err != nil {
		t.Error(err)
	}
}

// asLink is an archive in which a file is a link to another one.
func asLink(t *testing.T, archive []byte, name, to string, kind byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && h.Name == name {
			h.Typeflag, h.Linkname, h.Size = kind, to, 0
		}
		if err == nil {
			err = w.WriteHeader(h)
		}
		if err == nil && h.Size > 0 {
			_, err = io.Copy(w, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

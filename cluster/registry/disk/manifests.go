package disk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cuelabs.dev/go/oci/ociregistry"
	"cuelabs.dev/go/oci/ociregistry/ociref"
	"github.com/opencontainers/go-digest"
)

// ofManifests is the folder in a repository's that is none of another repository: their names do not begin like this.
const ofManifests = "_manifests"

func (b *Backend) repository(repo string) string {
	return filepath.Join(b.dir, "repositories", filepath.FromSlash(repo), ofManifests)
}

func (b *Backend) tagPath(repo, tag string) string {
	return filepath.Join(b.repository(repo), "tags", escape(tag))
}

// beforePath is where it stands what a tag pointed to before.
func (b *Backend) beforePath(repo, tag string) string {
	return filepath.Join(b.repository(repo), "before", escape(tag))
}

func (b *Backend) manifestPath(repo string, d ociregistry.Digest) string {
	return filepath.Join(b.repository(repo), d.Algorithm().String(), d.Encoded())
}

// escape makes tags that differ in the case of letters files that differ on every system. A tag has no exclamation
// mark.
func escape(tag string) string {
	var s strings.Builder
	for _, c := range tag {
		if c >= 'A' && c <= 'Z' {
			s.WriteByte('!')
			c += 'a' - 'A'
		}
		s.WriteRune(c)
	}
	return s.String()
}

// unescape undoes escape.
func unescape(name string) string {
	var s strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '!' && i+1 < len(name) {
			i++
			c = name[i] - ('a' - 'A')
		}
		s.WriteByte(c)
	}
	return s.String()
}

// manifest is what images, indexes and artifacts say about what they consist of.
type manifest struct {
	Config       *ociregistry.Descriptor  `json:"config"`
	Layers       []ociregistry.Descriptor `json:"layers"`
	Manifests    []ociregistry.Descriptor `json:"manifests"`
	Subject      *ociregistry.Descriptor  `json:"subject"`
	ArtifactType string                   `json:"artifactType"`
	Annotations  map[string]string        `json:"annotations"`
}

// parts are the contents and the manifests that this one needs.
func (m manifest) parts() []ociregistry.Descriptor {
	parts := m.Manifests
	if m.Config != nil {
		parts = append(parts, *m.Config)
	}
	for _, l := range m.Layers {
		if len(l.URLs) == 0 { // others are had from there
			parts = append(parts, l)
		}
	}
	return parts
}

// kind is the type of artifact, as the distribution specification finds it.
func (m manifest) kind() string {
	if m.Config != nil {
		return cmp.Or(m.ArtifactType, m.Config.MediaType)
	}
	return m.ArtifactType
}

// PushManifest takes a manifest whose parts are all there.
func (b *Backend) PushManifest(_ context.Context, repo, tag string, contents []byte, mediaType string) (ociregistry.Descriptor, error) {
	b.swept()
	b.use.RLock()
	defer b.use.RUnlock()
	d := ociregistry.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(contents), Size: int64(len(contents))}
	m, err := b.check(repo, tag, contents)
	if err != nil {
		return d, err
	}
	path, _ := b.blobPath(d.Digest)
	if err := b.write(path, contents); err != nil {
		return d, err
	}
	if err := b.writeDescriptor(b.manifestPath(repo, d.Digest), d); err != nil {
		return d, err
	}
	b.promises.keep(m.parts())
	if tag == "" {
		if m.Subject == nil { // else it stays with what it is about
			b.promises.make(d.Digest) // an index may be on its way
		}
		return d, nil
	}
	before, err := readDescriptor(b.tagPath(repo, tag))
	if err == nil && before.Digest != d.Digest {
		err = b.writeDescriptor(b.beforePath(repo, tag), before)
	}
	if err != nil && !absent(err) {
		return d, err
	}
	return d, b.writeDescriptor(b.tagPath(repo, tag), d)
}

// maxName is how long the name of a repository may be, as in other registries and, for each part of it, in file
// systems.
const maxName = 255

// check refuses what is no manifest, and one of which a part is missing.
func (b *Backend) check(repo, tag string, contents []byte) (m manifest, err error) {
	if !ociref.IsValidRepository(repo) || len(repo) > maxName || tag != "" && !ociref.IsValidTag(tag) {
		return m, ociregistry.ErrNameInvalid
	}
	if err := json.Unmarshal(contents, &m); err != nil {
		return m, fmt.Errorf("%w: %w", ociregistry.ErrManifestInvalid, err)
	}
	for _, part := range m.parts() {
		if !b.hasBlob(part.Digest) {
			return m, fmt.Errorf("%w: %s", ociregistry.ErrManifestBlobUnknown, part.Digest)
		}
	}
	return m, nil
}

// ResolveManifest says whether a repository has a manifest.
func (b *Backend) ResolveManifest(_ context.Context, repo string, d ociregistry.Digest) (ociregistry.Descriptor, error) {
	b.swept()
	if _, ok := b.blobPath(d); !ok {
		return ociregistry.Descriptor{}, ociregistry.ErrManifestUnknown
	}
	return b.resolve(b.manifestPath(repo, d))
}

// ResolveTag says what a tag points to.
func (b *Backend) ResolveTag(_ context.Context, repo, tag string) (ociregistry.Descriptor, error) {
	b.swept()
	return b.resolve(b.tagPath(repo, tag))
}

func (b *Backend) resolve(path string) (ociregistry.Descriptor, error) {
	b.use.RLock()
	defer b.use.RUnlock()
	d, err := readDescriptor(path)
	if absent(err) {
		return d, ociregistry.ErrManifestUnknown
	}
	if err == nil {
		touch(path)
	}
	return d, err
}

// GetManifest opens a manifest of a repository.
func (b *Backend) GetManifest(ctx context.Context, repo string, d ociregistry.Digest) (ociregistry.BlobReader, error) {
	return b.openManifest(b.ResolveManifest(ctx, repo, d))
}

// GetTag opens the manifest that a tag points to.
func (b *Backend) GetTag(ctx context.Context, repo, tag string) (ociregistry.BlobReader, error) {
	return b.openManifest(b.ResolveTag(ctx, repo, tag))
}

func (b *Backend) openManifest(d ociregistry.Descriptor, err error) (ociregistry.BlobReader, error) {
	if err != nil {
		return nil, err
	}
	f, _, err := b.open(d.Digest)
	if err != nil {
		return nil, err
	}
	return opened{f, f, d}, nil
}

// DeleteTag removes a tag. The content that it pointed to is deleted an hour after its last use.
func (b *Backend) DeleteTag(_ context.Context, repo, tag string) error {
	if err := os.Remove(b.beforePath(repo, tag)); err != nil && !absent(err) {
		return err
	}
	return b.remove(b.tagPath(repo, tag))
}

// DeleteManifest removes a manifest from a repository, and the tags that point to it.
func (b *Backend) DeleteManifest(ctx context.Context, repo string, d ociregistry.Digest) error {
	for tag, err := range b.Tags(ctx, repo, "") {
		if err != nil {
			return err
		}
		to, err := readDescriptor(b.tagPath(repo, tag))
		if err == nil && to.Digest == d {
			err = b.DeleteTag(ctx, repo, tag)
		}
		if err != nil && !absent(err) {
			return err
		}
	}
	if _, ok := b.blobPath(d); !ok {
		return ociregistry.ErrManifestUnknown
	}
	return b.remove(b.manifestPath(repo, d))
}

func (b *Backend) remove(path string) error {
	b.use.RLock()
	defer b.use.RUnlock()
	err := os.Remove(path)
	if absent(err) {
		return ociregistry.ErrManifestUnknown
	}
	if err != nil {
		return err
	}
	return b.syncFolders(filepath.Dir(path))
}

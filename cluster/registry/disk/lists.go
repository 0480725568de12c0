package disk

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"cuelabs.dev/go/oci/ociregistry"
	"github.com/opencontainers/go-digest"
)

// Repositories lists the repositories that have manifests.
func (b *Backend) Repositories(_ context.Context, after string) iter.Seq2[string, error] {
	names, err := b.repositories()
	return listed(names, after, err)
}

func (b *Backend) repositories() ([]string, error) {
	var names []string
	root := filepath.Join(b.dir, "repositories")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && absent(err):
			return nil
		case err != nil:
			return err
		case entry.Name() != ofManifests:
			return nil
		}
		name, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		names = append(names, filepath.ToSlash(name))
		return fs.SkipDir
	})
	return names, err
}

// Tags lists the tags of a repository.
func (b *Backend) Tags(_ context.Context, repo, after string) iter.Seq2[string, error] {
	if _, err := os.Stat(b.repository(repo)); absent(err) {
		return ociregistry.ErrorSeq[string](ociregistry.ErrNameUnknown)
	}
	tags, err := entries(filepath.Join(b.repository(repo), "tags"))
	for i, name := range tags {
		tags[i] = unescape(name)
	}
	return listed(tags, after, err)
}

// manifests lists the digests of a repository's manifests.
func (b *Backend) manifests(repo string) ([]ociregistry.Digest, error) {
	names, err := entries(filepath.Join(b.repository(repo), digest.SHA256.String()))
	digests := make([]ociregistry.Digest, len(names))
	for i, name := range names {
		digests[i] = digest.NewDigestFromEncoded(digest.SHA256, name)
	}
	return digests, err
}

// entries are the names in a folder; none if it is not there.
func entries(dir string) ([]string, error) {
	found, err := os.ReadDir(dir)
	if absent(err) {
		return nil, nil
	}
	names := make([]string, len(found))
	for i, entry := range found {
		names[i] = entry.Name()
	}
	return names, err
}

// listed lists names in order, from the first one after the one given.
func listed(names []string, after string, err error) iter.Seq2[string, error] {
	if err != nil {
		return ociregistry.ErrorSeq[string](err)
	}
	slices.Sort(names)
	at, found := slices.BinarySearch(names, after)
	if found {
		at++
	}
	return ociregistry.SliceSeq(names[at:])
}

// Referrers lists the manifests that are about this one: signatures, bills of materials.
func (b *Backend) Referrers(_ context.Context, repo string, d ociregistry.Digest, kind string) iter.Seq2[ociregistry.Descriptor, error] {
	all, err := b.manifests(repo)
	if err != nil {
		return ociregistry.ErrorSeq[ociregistry.Descriptor](err)
	}
	var found []ociregistry.Descriptor
	for _, each := range all {
		m, descriptor, err := b.read(repo, each)
		if err != nil && !absent(err) {
			return ociregistry.ErrorSeq[ociregistry.Descriptor](err)
		}
		if m.Subject == nil || m.Subject.Digest != d || kind != "" && m.kind() != kind {
			continue
		}
		descriptor.ArtifactType, descriptor.Annotations = m.kind(), m.Annotations
		found = append(found, descriptor)
	}
	slices.SortFunc(found, func(a, b ociregistry.Descriptor) int { return cmp.Compare(a.Digest, b.Digest) })
	return ociregistry.SliceSeq(found)
}

// read reads a manifest of a repository. What is not there is fs.ErrNotExist.
func (b *Backend) read(repo string, d ociregistry.Digest) (manifest, ociregistry.Descriptor, error) {
	var m manifest
	descriptor, err := readDescriptor(b.manifestPath(repo, d))
	if err != nil {
		return m, descriptor, err
	}
	path, _ := b.blobPath(d)
	data, err := os.ReadFile(path)
	if err != nil {
		return m, descriptor, err
	}
	return m, descriptor, json.Unmarshal(data, &m)
}

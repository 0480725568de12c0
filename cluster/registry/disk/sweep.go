package disk

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
	"github.com/opencontainers/go-digest"
)

const (
	// untagged is how long a manifest without a tag stays after it was last asked for.
	untagged = time.Hour
	// abandoned is how long an upload stays that no client goes on with.
	abandoned = 24 * time.Hour
	// fresh is how long contents stay that no manifest names yet: one may be on its way.
	fresh = time.Hour
	// pause is the least time between two sweeps.
	pause = time.Hour
)

// sweeper remembers when the last sweep was.
type sweeper struct {
	mu   sync.Mutex // held while sweeping, too: nobody goes ahead of the first sweep
	last time.Time
}

// swept sweeps if it is time. A failure is nothing to whoever made the request: there is only more than need be.
func (b *Backend) swept() {
	b.sweep.mu.Lock()
	defer b.sweep.mu.Unlock()
	first := b.sweep.last.IsZero()
	if !first && time.Since(b.sweep.last) < pause {
		return
	}
	b.sweep.last = time.Now()
	var used []ociregistry.Digest
	var err error
	if b.used != nil {
		used, err = b.used()
	}
	b.use.Lock()
	defer b.use.Unlock()
	if first { // what an earlier process was being pushed
		_ = os.RemoveAll(b.uploads())
	}
	if err == nil {
		_ = b.clean(used)
	}
}

// clean removes manifests that nothing leads to and no container runs, and then contents that no manifest names.
func (b *Backend) clean(run []ociregistry.Digest) error {
	repos, err := b.repositories()
	if err != nil {
		return err
	}
	used := map[ociregistry.Digest]bool{}
	for _, repo := range repos {
		needed, err := b.needed(repo, run)
		if err != nil {
			return err
		}
		if err := b.forget(repo, needed); err != nil {
			return err
		}
		for d := range needed {
			used[d] = true
		}
	}
	return b.removeBlobs(used)
}

// needed is what tags, and manifests that were asked for of late or that containers run, lead to in a repository.
func (b *Backend) needed(repo string, run []ociregistry.Digest) (map[ociregistry.Digest]bool, error) {
	roots, err := b.roots(repo, run)
	if err != nil {
		return nil, err
	}
	all, err := b.manifests(repo)
	if err != nil {
		return nil, err
	}
	subjects := map[ociregistry.Digest][]ociregistry.Digest{} // what is about it
	for _, d := range all {
		if m, _, err := b.read(repo, d); err == nil && m.Subject != nil {
			subjects[m.Subject.Digest] = append(subjects[m.Subject.Digest], d)
		}
	}
	needed := map[ociregistry.Digest]bool{}
	for len(roots) > 0 {
		d := roots[0]
		roots = roots[1:]
		if needed[d] {
			continue
		}
		needed[d] = true
		roots = append(roots, subjects[d]...)
		if m, _, err := b.read(repo, d); err == nil { // others are no manifests
			for _, part := range m.parts() {
				roots = append(roots, part.Digest)
			}
		}
	}
	return needed, nil
}

// roots are what tags point to and pointed to before, what was asked for of late, and what containers run.
func (b *Backend) roots(repo string, run []ociregistry.Digest) ([]ociregistry.Digest, error) {
	var roots []ociregistry.Digest
	for _, folder := range []string{"tags", "before"} {
		tags, err := entries(filepath.Join(b.repository(repo), folder))
		if err != nil {
			return nil, err
		}
		for _, name := range tags {
			d, err := readDescriptor(filepath.Join(b.repository(repo), folder, name))
			if err != nil {
				return nil, err
			}
			roots = append(roots, d.Digest)
		}
	}
	all, err := b.manifests(repo)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if slices.Contains(run, d) || !older(b.manifestPath(repo, d), untagged) {
			roots = append(roots, d)
		}
	}
	return roots, nil
}

// older says whether a file was last touched longer ago than that.
func older(path string, age time.Duration) bool {
	info, err := os.Stat(path)
	return err == nil && time.Since(info.ModTime()) > age
}

// forget takes all other manifests from a repository.
func (b *Backend) forget(repo string, needed map[ociregistry.Digest]bool) error {
	all, err := b.manifests(repo)
	if err != nil {
		return err
	}
	for _, d := range all {
		if needed[d] {
			continue
		}
		if err := os.Remove(b.manifestPath(repo, d)); err != nil && !absent(err) {
			return err
		}
	}
	return nil
}

// removeBlobs removes all other contents, but for those that are fresh, and uploads that nobody goes on with.
func (b *Backend) removeBlobs(used map[ociregistry.Digest]bool) error {
	dir := filepath.Join(b.dir, "blobs", digest.SHA256.String())
	names, err := entries(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if used[digest.NewDigestFromEncoded(digest.SHA256, name)] || !older(filepath.Join(dir, name), fresh) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !absent(err) {
			return err
		}
	}
	names, err = entries(b.uploads())
	if err != nil {
		return err
	}
	for _, name := range names {
		if path := filepath.Join(b.uploads(), name); older(path, abandoned) {
			_ = os.Remove(path)
		}
	}
	return nil
}

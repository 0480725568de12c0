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
	// abandoned is how long an upload stays that no client goes on with.
	abandoned = 24 * time.Hour
	// fresh is how long what nothing leads to stays after it was last asked for: a tag or a manifest may be on its way.
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
	if time.Since(b.sweep.last) < pause {
		return
	}
	var used []ociregistry.Digest
	var err error
	if b.used != nil {
		used, err = b.used()
	}
	b.use.Lock()
	defer b.use.Unlock()
	b.sweepBegins()
	if err == nil {
		_ = b.clean(used)
	}
}

// sweepBegins needs b.sweep.mu and b.use.
func (b *Backend) sweepBegins() {
	if b.sweep.last.IsZero() { // what an earlier process was being pushed
		_ = os.RemoveAll(b.uploads())
	}
	b.sweep.last = time.Now()
}

// clean removes manifests that nothing leads to and no container runs, then contents that no manifest names, and
// uploads that no client goes on with.
func (b *Backend) clean(run []ociregistry.Digest) error {
	left, err := b.leftovers(run, fresh)
	if err != nil {
		return err
	}
	if err := b.removeAll(left); err != nil {
		return err
	}
	names, err := entries(b.uploads())
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

// leftovers are what nothing needs.
type leftovers struct {
	manifests map[string][]ociregistry.Digest // by repository
	blobs     map[ociregistry.Digest]int64    // with their sizes
}

// leftovers finds what nothing needs and was not asked for, or pushed, for that long.
func (b *Backend) leftovers(run []ociregistry.Digest, age time.Duration) (leftovers, error) {
	left := leftovers{manifests: map[string][]ociregistry.Digest{}, blobs: map[ociregistry.Digest]int64{}}
	repos, err := b.repositories()
	if err != nil {
		return left, err
	}
	used := map[ociregistry.Digest]bool{}
	for _, repo := range repos {
		all, err := b.manifests(repo)
		if err != nil {
			return left, err
		}
		needed, err := b.needed(repo, all, run, age)
		if err != nil {
			return left, err
		}
		for d := range needed {
			used[d] = true
		}
		left.manifests[repo] = slices.DeleteFunc(all, func(d ociregistry.Digest) bool { return needed[d] })
	}
	names, err := entries(b.blobs())
	if err != nil {
		return left, err
	}
	for _, name := range names {
		d := digest.NewDigestFromEncoded(digest.SHA256, name)
		info, err := os.Stat(filepath.Join(b.blobs(), name))
		if err == nil && !used[d] && time.Since(info.ModTime()) > age && !b.promises.holds(d) {
			left.blobs[d] = info.Size()
		}
	}
	return left, nil
}

// removeAll removes leftovers: manifests first, so that none is there whose contents are not.
func (b *Backend) removeAll(left leftovers) error {
	for repo, manifests := range left.manifests {
		for _, d := range manifests {
			if err := os.Remove(b.manifestPath(repo, d)); err != nil && !absent(err) {
				return err
			}
		}
	}
	for d := range left.blobs {
		if err := os.Remove(filepath.Join(b.blobs(), d.Encoded())); err != nil && !absent(err) {
			return err
		}
	}
	return nil
}

func (b *Backend) blobs() string { return filepath.Join(b.dir, "blobs", digest.SHA256.String()) }

// needed is what tags, and manifests that were asked for of late or that containers run, lead to in a repository.
func (b *Backend) needed(repo string, all, run []ociregistry.Digest, age time.Duration) (map[ociregistry.Digest]bool, error) {
	roots, err := b.roots(repo, all, run, age)
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
func (b *Backend) roots(repo string, all, run []ociregistry.Digest, age time.Duration) ([]ociregistry.Digest, error) {
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
	for _, d := range all {
		if slices.Contains(run, d) || b.promises.holds(d) || !older(b.manifestPath(repo, d), age) {
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

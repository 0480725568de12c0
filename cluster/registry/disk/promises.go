package disk

import (
	"maps"
	"sync"
	"time"

	"cuelabs.dev/go/oci/ociregistry"
)

// promises are contents that answers to clients have promised, and that no manifest has named since. A push relies on
// them until its last manifest is there, whatever their files' age.
type promises struct {
	mu    sync.Mutex
	until map[ociregistry.Digest]time.Time
}

// make is for a client that may not push these contents again.
func (p *promises) make(d ociregistry.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.until == nil {
		p.until = map[ociregistry.Digest]time.Time{}
	}
	maps.DeleteFunc(p.until, func(_ ociregistry.Digest, until time.Time) bool { return now.After(until) })
	p.until[d] = now.Add(fresh)
}

// keep is for a manifest that needs its parts from now on.
func (p *promises) keep(parts []ociregistry.Descriptor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range parts {
		delete(p.until, part.Digest)
	}
}

func (p *promises) holds(d ociregistry.Digest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.until[d])
}

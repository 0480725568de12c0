package imagestore

import "context"

// wanted is the key of a pull. Pulls with different credentials never share: a pod without a pull secret would get an
// image by another pod's secret.
type wanted struct {
	ref, digest string
	credentials Credentials
}

// pull is a pull under way.
type pull struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // number of callers
	image   Image
	err     error
}

// Pull pulls an image. Concurrent calls for the same name, digest and credentials share one pull.
func (s *Store) Pull(ctx context.Context, ref string, credentials *Credentials) (Image, error) {
	at, err := s.locate(ctx, ref)
	if err != nil {
		return Image{}, err
	}
	w := wanted{ref: ref, digest: at.digest()}
	if credentials != nil && at.here == nil { // the cluster's registry needs none
		w.credentials = *credentials
	}
	p := s.join(ctx, w, func(ctx context.Context) (Image, error) { return s.pull(ctx, ref, at, credentials) })
	defer s.leave(w, p)
	select {
	case <-p.done:
		return p.image, p.err
	case <-ctx.Done():
		return Image{}, context.Cause(ctx)
	}
}

// join joins the pull for w, or starts it. The pull goes on if its first caller gives up.
func (s *Store) join(ctx context.Context, w wanted, do func(context.Context) (Image, error)) *pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pulls[w]
	if p == nil {
		p = &pull{done: make(chan struct{})}
		ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
		s.pulls[w] = p
		go func() {
			defer close(p.done)
			p.image, p.err = do(ctx)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.forget(w, p)
		}()
	}
	p.waiting++
	return p
}

// leave cancels a pull that has no more callers.
func (s *Store) leave(w wanted, p *pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.waiting--; p.waiting == 0 {
		s.forget(w, p)
		p.cancel()
	}
}

// forget requires s.mu.
func (s *Store) forget(w wanted, p *pull) {
	if s.pulls[w] == p {
		delete(s.pulls, w)
	}
}

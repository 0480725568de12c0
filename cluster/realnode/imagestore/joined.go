package imagestore

import "context"

// wanted is what a pull is for. Who may have something else does not wait for the same pull: a pod without a pull
// secret would be given what another one's secret opens.
type wanted struct {
	ref, digest string
	credentials Credentials
}

// pull is one that is under way.
type pull struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // how many wait for it
	image   Image
	err     error
}

// Pull gets an image from a registry. Pulls of what one name leads to, with the same credentials and at the same time,
// are one.
func (s *Store) Pull(ctx context.Context, ref string, credentials *Credentials) (Image, error) {
	at, err := s.locate(ctx, ref)
	if err != nil {
		return Image{}, err
	}
	w := wanted{ref: ref, digest: at.digest()}
	if credentials != nil && at.here == nil { // the cluster's registry is asked without
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

// join waits for a pull together with others, or begins it. It goes on when the one that began it leaves.
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

// leave ends a pull that is waited for no more.
func (s *Store) leave(w wanted, p *pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.waiting--; p.waiting == 0 {
		s.forget(w, p)
		p.cancel()
	}
}

// forget needs s.mu.
func (s *Store) forget(w wanted, p *pull) {
	if s.pulls[w] == p {
		delete(s.pulls, w)
	}
}

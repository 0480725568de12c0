package ingress

import "context"

// turns are as many as there are at a time of something. The channel has an element for each.
type turns chan struct{}

// take takes a turn, unless all are taken.
func (t turns) take() (taken bool) {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t turns) leave() { <-t }

// end waits until all have left, and lets none follow. It reports whether that was so before ctx ended.
func (t turns) end(ctx context.Context) (all bool) {
	for range cap(t) {
		select {
		case t <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

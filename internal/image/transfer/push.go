package transfer

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/internal/image/store"
)

// Push pushes an image, with what is about it, and returns its digest. It calls Progress no more once it has returned.
func (r Registries) Push(ctx context.Context, to name.Reference, img store.Image) (v1.Hash, error) {
	digest, err := r.push(ctx, to, img)
	if err != nil {
		return digest, Explain(ctx, "pushed", to, err)
	}
	return digest, nil
}

// pushable is an image or an index.
type pushable interface {
	remote.Taggable
	Digest() (v1.Hash, error)
}

func (r Registries) push(ctx context.Context, to name.Reference, img store.Image) (v1.Hash, error) {
	var what pushable = img.Image
	if img.Index != nil {
		what = img.Index
	}
	digest, err := what.Digest()
	if err != nil {
		return digest, err
	}
	if err := r.write(ctx, to, what); err != nil {
		return digest, err
	}
	for _, about := range img.About {
		d, err := about.Digest()
		if err != nil {
			return digest, err
		}
		if err := remote.Write(to.Context().Digest(d.String()), about, r.options(ctx)...); err != nil {
			return digest, fmt.Errorf("the bill of materials: %w", err)
		}
	}
	return digest, nil
}

// waiting is how many updates wait until they are shown: more than there are requests at once, see show.
const waiting = 64

// write writes an image or an index and shows its progress. It has a pusher of its own, since the functions of the
// library close the channel: a request that still sends its body would then end the process.
func (r Registries) write(ctx context.Context, to name.Reference, what remote.Taggable) error {
	updates := make(chan v1.Update, waiting)
	defer r.show(updates)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pusher, err := remote.NewPusher(append(r.options(ctx), remote.WithProgress(updates))...)
	if err != nil {
		return err
	}
	return pusher.Push(ctx, to, what)
}

// show shows updates until stop is called, which returns once the last one is shown. Requests may outlive the push: a
// registry can answer before it has read all. Each sends one update more at most, see ending, and the channel has room
// for these.
func (r Registries) show(updates <-chan v1.Update) (stop func()) {
	over, shown := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shown)
		for {
			select {
			case u := <-updates:
				r.progress(u)
			case <-over:
				for len(updates) > 0 {
					r.progress(<-updates)
				}
				return
			}
		}
	}()
	return func() { close(over); <-shown }
}

func (r Registries) progress(u v1.Update) {
	if u.Error == nil && r.Progress != nil {
		r.Progress(u.Complete, u.Total)
	}
}

// ending ends the bodies of requests with their contexts. By itself a transport goes on sending one for a while after
// its answer was read.
type ending struct{ http.RoundTripper }

func (e ending) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return e.RoundTripper.RoundTrip(r)
	}
	ctx, again := r.Context(), r.GetBody
	sent := r.WithContext(ctx)
	sent.Body = endingBody{r.Body, ctx}
	if again != nil {
		sent.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			return endingBody{body, ctx}, err
		}
	}
	return e.RoundTripper.RoundTrip(sent)
}

type endingBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b endingBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

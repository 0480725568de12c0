package image

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/transfer"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// worker does one thing with the images in a store.
type worker struct {
	store   store.Store
	getenv  func(string) string
	handler report.Handler
}

// folder is where images are kept.
func (i *Images) folder() (string, error) {
	cache, err := userdirs.Cache(i.getenv)
	return filepath.Join(cache, "images"), err
}

// changing has a worker do what may change images.
func changing[Result any](ctx context.Context, i *Images, do func(*worker) (Result, error)) (result Result, err error) {
	dir, err := i.folder()
	if err != nil {
		return result, err
	}
	w := &worker{getenv: i.getenv, handler: i.handler}
	w.store = store.Store{Dir: dir, Warn: w.warn}
	result, err = do(w)
	return result, orEnd(ctx, err)
}

// orEnd is the error of a context that is done, in place of what failed then.
func orEnd(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// reading has a worker do what changes no image, while contents stay.
func reading[Result any](ctx context.Context, i *Images, do func(*worker) (Result, error)) (Result, error) {
	return changing(ctx, i, func(w *worker) (result Result, err error) {
		release, err := w.store.Read(ctx)
		if err != nil {
			return result, err
		}
		defer release()
		return do(w)
	})
}

// warn reports what the user should know.
func (w *worker) warn(text string) { w.handler.Handle(report.Warning{Text: text}) }

// begin reports work that begins.
func (w *worker) begin(name string) { w.handler.Handle(report.Step{Name: name}) }

// step reports work that has ended.
func (w *worker) step(name string, begin time.Time) {
	w.handler.Handle(report.Step{Name: name, Elapsed: time.Since(begin)})
}

// often is the interval between reports of progress.
const often = 100 * time.Millisecond

// registries report what is sent, in KiB, as the progress of the work of that name.
func (w *worker) registries(name string) transfer.Registries {
	begin, last := time.Now(), time.Time{}
	return transfer.Registries{Progress: func(done, total int64) {
		now := time.Now()
		if now.Sub(last) < often && done < total || total == 0 {
			return
		}
		last = now
		p := report.Progress{Name: name, Done: int(done >> 10), Total: int(total >> 10), Unit: "KiB", Elapsed: now.Sub(begin)}
		if done > 0 && p.Elapsed > time.Second { // earlier it would be a guess
			p.Left = time.Duration(float64(p.Elapsed) * float64(total-done) / float64(done))
		}
		w.handler.Handle(p)
	}}
}

// find returns an image of the store by its name. Also is what else can be done if there is none.
func (w *worker) find(text, also string) (store.Entry, error) {
	ref, err := reference.Parse(text)
	if err != nil {
		return store.Entry{}, err
	}
	e, err := w.store.Get(ref)
	if err == nil {
		err = w.store.Check(e.Image)
	}
	if errors.Is(err, store.ErrUnknown) {
		return e, &report.Error{What: "no such image", Where: text, Hint: "`slipway image list` lists built and pulled images; `slipway image pull " + text + "` pulls one" + also,
			Next: "slipway image build -t " + text}
	}
	if err != nil {
		return e, &report.Error{What: "the image cannot be read", Where: text, Err: err, Hint: "build or pull it again to repair it", Next: "slipway image build -t " + text}
	}
	return e, nil
}

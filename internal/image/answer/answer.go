// Package answer is what the program slipway-image consists of: it answers one request, in the form of package wire,
// with what the packages for images do.
//
//	os.Exit(serve.Main(ctx, os.Getenv, os.Stdin, os.Stdout, os.Stderr))
package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/transfer"
	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

// Main answers the request on stdin and returns the program's exit code. A request that fails is answered, too.
func Main(ctx context.Context, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	var request wire.Request
	if err := json.NewDecoder(stdin).Decode(&request); err != nil {
		_, _ = fmt.Fprintf(stderr, "slipway-image: no request on stdin: %v\n", err)
		return 2
	}
	w := &worker{getenv: getenv, out: json.NewEncoder(stdout)}
	w.store = store.Store{Dir: request.Store, Warn: w.warn}
	w.send(wire.Event{Protocol: wire.Protocol})
	if request.Protocol != wire.Protocol {
		return 2
	}
	result, err := w.answer(ctx, request)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(result); err == nil {
			w.send(wire.Event{Result: text})
			return 0
		}
	}
	w.send(wire.Event{Failure: wire.Fail(err)})
	return 1
}

// worker works on one request.
type worker struct {
	store  store.Store
	getenv func(string) string
	mu     sync.Mutex
	out    *json.Encoder
}

func (w *worker) send(e wire.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.out.Encode(e) // without a reader nobody is there to be told
}

// warn tells of what the user should know.
func (w *worker) warn(text string) { w.send(wire.Event{Warning: &report.Warning{Text: text}}) }

func (w *worker) answer(ctx context.Context, r wire.Request) (any, error) {
	switch {
	case r.Build != nil:
		return w.build(ctx, *r.Build)
	case r.Pull != nil:
		return w.pull(ctx, *r.Pull)
	case r.Remove != nil:
		return w.remove(ctx, *r.Remove)
	case r.Login != nil:
		return login(ctx, *r.Login)
	case r.Logout != nil:
		return logout(*r.Logout)
	}
	release, err := w.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return w.read(ctx, r)
}

// read answers what changes no image, while contents stay.
func (w *worker) read(ctx context.Context, r wire.Request) (any, error) {
	switch {
	case r.Push != nil:
		return w.push(ctx, *r.Push)
	case r.Save != nil:
		return w.save(ctx, *r.Save)
	case r.Load != nil:
		return w.load(ctx, *r.Load)
	case r.Inspect != nil:
		return w.inspect(*r.Inspect)
	case r.List != nil:
		return w.list()
	}
	return nil, errors.New("the request names no operation")
}

// begin tells of work that begins.
func (w *worker) begin(name string) { w.send(wire.Event{Step: &report.Step{Name: name}}) }

// step tells of work that ended.
func (w *worker) step(name string, begin time.Time) {
	w.send(wire.Event{Step: &report.Step{Name: name, Elapsed: time.Since(begin)}})
}

// often is how often progress is told.
const often = 100 * time.Millisecond

// registries tell what is sent, in KiB, as the progress of the work of that name.
func (w *worker) registries(name string) transfer.Registries {
	begin, last := time.Now(), time.Time{}
	return transfer.Registries{Progress: func(done, total int64) {
		now := time.Now()
		if now.Sub(last) < often && done < total || total == 0 {
			return
		}
		last = now
		p := report.Progress{Name: name, Done: int(done >> 10), Total: int(total >> 10), Elapsed: now.Sub(begin)}
		if done > 0 && p.Elapsed > time.Second { // earlier it would be a guess
			p.Left = time.Duration(float64(p.Elapsed) * float64(total-done) / float64(done))
		}
		w.send(wire.Event{Progress: &p})
	}}
}

// find returns an image of the store by its name.
func (w *worker) find(text string) (store.Entry, error) {
	ref, err := reference.Parse(text)
	if err != nil {
		return store.Entry{}, err
	}
	e, err := w.store.Get(ref)
	if err == nil {
		err = w.store.Check(e.Image)
	}
	if errors.Is(err, store.ErrUnknown) {
		return e, &report.Error{What: "no such image", Where: text, Hint: "`slipway image list` lists built and pulled images; `slipway image pull " + text + "` pulls one",
			Next: "slipway image build -t " + text}
	}
	if err != nil {
		return e, &report.Error{What: "the image cannot be read", Where: text, Err: err, Hint: "build or pull it again to repair it", Next: "slipway image build -t " + text}
	}
	return e, nil
}

package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	redirects = 5
	dialing   = 15 * time.Second
	// little is how few bytes within the time of a stall count as none, as of a server that sends one now and then.
	little = 4 << 10
)

// newClient returns a client that honours the user's proxies.
func newClient(base *url.URL) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: dialing}).DialContext,
			TLSHandshakeTimeout: dialing,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true,
		},
		CheckRedirect: func(to *http.Request, via []*http.Request) error { return follow(base, to.URL, len(via)) },
	}
}

// Why a server is not listened to.
var (
	errRedirects = errors.New("the server redirects again and again")
	errInsecure  = errors.New("the server redirects to an address without https")
	errStalled   = errors.New("the server has stopped sending")
	errStatus    = errors.New("the server answered")
	errCut       = errors.New("the connection was cut off")
	errPage      = errors.New("a web page came in place of the file, as sign-in pages of networks do")
	errLarge     = errors.New("it is larger than any such file of a release")
)

// follow decides whether a redirect is followed: a few, and none to where others could read or change what is sent.
// Only who asks this machine is sent on to this machine without https.
func follow(base, to *url.URL, count int) error {
	switch {
	case count >= redirects:
		return errRedirects
	case to.Scheme == "https", safe(to) && base.Scheme == "http":
		return nil
	}
	return fmt.Errorf("%w: %s", errInsecure, plain(to))
}

// small gets a file of at most limit bytes.
func (s *Source) small(ctx context.Context, from *url.URL, limit int64) ([]byte, error) {
	body, err := s.get(ctx, from, 0)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return nil, body.why(err)
	case isPage(text):
		return nil, errPage
	case int64(len(text)) > limit:
		return nil, errLarge
	}
	return text, nil
}

// isPage reports whether a text is HTML, whatever the server called it.
func isPage(text []byte) bool {
	begin := strings.ToLower(strings.TrimSpace(string(text[:min(len(text), 512)])))
	return strings.HasPrefix(begin, "<!doctype html") || strings.HasPrefix(begin, "<html") || strings.HasPrefix(begin, "<head")
}

// body is what a server sends, given up when that stalls.
type body struct {
	*http.Response
	cancel context.CancelCauseFunc
	ctx    context.Context
	begun  int64 // how much of the file is not sent again
	got    atomic.Int64
	over   chan struct{}
}

// get asks for a file from its byte offset on. The answer may begin elsewhere: see begun.
func (s *Source) get(ctx context.Context, from *url.URL, offset int64) (*body, error) {
	b := &body{over: make(chan struct{}), begun: offset}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	request, err := http.NewRequestWithContext(b.ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return nil, err
	}
	if offset > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	go b.watch(s.tick(stall))
	b.Response, err = s.client.Do(request) //nolint:bodyclose // Close of the body that is returned does
	if err == nil {
		err = b.judge(offset)
	}
	if err != nil {
		err = b.why(err)
		b.Close()
		return nil, err
	}
	return b, nil
}

// errRange is that a server does not send the part that was asked for.
var errRange = errors.New("the server sent another part than it was asked for")

// judge looks at an answer before its body is read.
func (b *body) judge(offset int64) error {
	switch {
	case b.StatusCode == http.StatusPartialContent && offset > 0:
		if !strings.HasPrefix(b.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", offset)) {
			return errRange
		}
	case b.StatusCode == http.StatusOK:
		b.begun = 0
	case b.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return errRange
	default:
		return fmt.Errorf("%w %s", errStatus, b.Status)
	}
	if kind := b.Header.Get("Content-Type"); strings.HasPrefix(strings.ToLower(kind), "text/html") {
		return errPage
	}
	return nil
}

// watch gives the request up when next to nothing has come between two ticks.
func (b *body) watch(ticks <-chan time.Time) {
	for before := int64(0); ; {
		select {
		case <-b.over:
			return
		case <-ticks:
		}
		now := b.got.Load()
		if now-before < little {
			b.cancel(errStalled)
			return
		}
		before = now
	}
}

// Read reads what is sent.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Body.Read(p)
	b.got.Add(int64(n))
	return n, err
}

// Close ends the request.
func (b *body) Close() {
	close(b.over)
	b.cancel(context.Canceled)
	if b.Response != nil {
		_ = b.Body.Close() // it was read, or is not wanted
	}
}

// why is the reason of an error of the request, without the address that it repeats.
func (b *body) why(err error) error {
	if cause := context.Cause(b.ctx); cause != nil {
		return cause
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || isReset(err) {
		return fmt.Errorf("%w after %d bytes", errCut, b.begun+b.got.Load())
	}
	return err
}

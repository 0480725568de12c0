package inprocess_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/inprocess"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// get asks a front for a path with a context that ends with the test.
// get returns the body of an answer, which is closed when the test ends.
func get(t *testing.T, front *inprocess.Front, ctx context.Context) (io.ReadCloser, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com:1234/a%2Fb?c=d", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: front}).Do(r)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.Body, nil
}

func serving(t *testing.T, handler http.HandlerFunc) *inprocess.Front {
	front := inprocess.New()
	front.Serve(handler)
	t.Cleanup(front.Close)
	return front
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	t.Cleanup(cancel)
	return ctx
}

func wait(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(testlimit.Hang):
		t.Fatal(what)
	}
}

func TestAnswer(t *testing.T) {
	front := serving(t, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Authorization") // as the API server does
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Seen", r.RequestURI+" "+r.Host+" "+r.RemoteAddr)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("Late", "yes")
		fmt.Fprintf(w, "%s has %d bytes", body, len(body))
	})
	r, err := http.NewRequestWithContext(limited(t), http.MethodPost, "https://example.com:1234/a%2Fb?c=d", strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer x")
	response, err := front.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != "abc has 3 bytes" || response.StatusCode != http.StatusTeapot {
		t.Errorf("the answer is %d %q, %v", response.StatusCode, body, err)
	}
	if seen := response.Header.Get("Seen"); seen != "/a%2Fb?c=d example.com:1234 127.0.0.1:0" {
		t.Errorf("the handler has seen %q", seen)
	}
	if response.Header.Get("Late") != "" {
		t.Error("a header that was set after the status was sent")
	}
	if r.Header.Get("Authorization") == "" {
		t.Error("the handler has changed the client's request")
	}
}

func TestLargeAnswer(t *testing.T) {
	const size = 20 << 20
	front := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		for piece := bytes.Repeat([]byte("0123456789abcdef"), 1000); ; {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	body, err := get(t, front, limited(t))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.CopyN(io.Discard, body, size)
	if n != size || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

func TestStream(t *testing.T) {
	next := make(chan string)
	front := serving(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush() // the answer begins before there is an event
		for event := range next {
			io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	})
	body, err := get(t, front, limited(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"first", "second"} {
		next <- event
		got := make([]byte, len(event))
		if _, err := io.ReadFull(body, got); err != nil || string(got) != event {
			t.Errorf("got %q, %v", got, err)
		}
	}
	close(next)
	if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
		t.Errorf("the end is %q, %v", rest, err)
	}
}

// endless begins an answer and returns when its context has ended, of which it tells.
func endless(ended chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	}
}

func begin(t *testing.T, front *inprocess.Front, ctx context.Context) io.ReadCloser {
	t.Helper()
	body, err := get(t, front, ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(body, make([]byte, len("begun"))); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestCancel(t *testing.T) {
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	body := begin(t, serving(t, endless(ended)), ctx)
	cancel()
	if _, err := io.ReadAll(body); !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
	wait(t, ended, "the handler was not told")
}

func TestCloseOfBody(t *testing.T) {
	ended := make(chan struct{})
	body := begin(t, serving(t, endless(ended)), t.Context())
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	wait(t, ended, "the handler was not told")
}

func TestEndOfServer(t *testing.T) {
	ended := make(chan struct{})
	front := serving(t, endless(ended))
	body := begin(t, front, t.Context())
	front.Close()
	if _, err := io.ReadAll(body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("reading ended with %v", err)
	}
	wait(t, ended, "the handler was not told")
	if _, err := get(t, front, t.Context()); !errors.Is(err, inprocess.ErrClosed) {
		t.Errorf("a request afterwards ended with %v", err)
	}
}

func TestBeforeThereIsAHandler(t *testing.T) {
	front := inprocess.New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := get(t, front, ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was cancelled ended with %v", err)
	}
	answered := make(chan error)
	go func() {
		_, err := get(t, front, t.Context())
		answered <- err
	}()
	front.Serve(http.NotFoundHandler())
	if err := <-answered; err != nil {
		t.Errorf("a request that waited ended with %v", err)
	}
}

func TestPanic(t *testing.T) {
	front := serving(t, func(http.ResponseWriter, *http.Request) { panic("at once") })
	if _, err := get(t, front, limited(t)); err == nil || !strings.Contains(err.Error(), "at once") {
		t.Errorf("the request ended with %v", err)
	}
	front = serving(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		panic("later")
	})
	body, err := get(t, front, limited(t))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(body); string(got) != "begun" || err == nil {
		t.Errorf("the answer is %q, %v", got, err)
	}
}

// A reader that does not read holds up the handler, and not the process's memory.
func TestSlowReader(t *testing.T) {
	const piece = 100 << 10
	written, ended := make(chan int, 1000), make(chan struct{})
	front := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for {
			n, err := w.Write(make([]byte, piece))
			if err != nil {
				return
			}
			written <- n
		}
	})
	body, err := get(t, front, limited(t))
	if err != nil {
		t.Fatal(err)
	}
	if ahead := len(written) * piece; ahead > 1<<20 {
		t.Errorf("the handler is %d bytes ahead", ahead)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	wait(t, ended, "the handler writes on")
}

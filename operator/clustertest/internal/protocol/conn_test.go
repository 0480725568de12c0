package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
)

// program is the other end of a connection.
type program struct {
	requests *bufio.Scanner
	events   *io.PipeWriter
}

func connect(t *testing.T) (*Conn, program) {
	t.Helper()
	fromUs, toProgram := io.Pipe()
	fromProgram, toUs := io.Pipe()
	t.Cleanup(func() { _ = toUs.Close(); _ = fromUs.Close() })
	return NewConn(fromProgram, toProgram), program{bufio.NewScanner(fromUs), toUs}
}

func (p program) say(format string, args ...any) { fmt.Fprintf(p.events, format+"\n", args...) }

// next reads a request.
func (p program) next() (r struct {
	ID     int64
	Method string
	Params json.RawMessage
}) {
	if p.requests.Scan() {
		_ = json.Unmarshal(p.requests.Bytes(), &r)
	}
	return r
}

func TestReady(t *testing.T) {
	c, p := connect(t)
	p.say(`{"event": "hello", "protocol": %d, "kubernetes": "1.2.3"}`, Number)
	p.say(`{"event": "news", "of": "another version"}`)
	p.say(`{"event": "ready", "server": "https://x", "kubeconfig": "/k"}`)
	got, err := c.Ready(t.Context())
	if want := (Cluster{"https://x", "/k", "1.2.3"}); err != nil || got != want {
		t.Errorf("Ready = %v, %v; want %v", got, err, want)
	}
}

func TestNotReady(t *testing.T) {
	for _, test := range []struct {
		line string
		is   func(error) bool
	}{
		{fmt.Sprintf(`{"event": "hello", "protocol": %d}`, Number+1), func(err error) bool {
			m, ok := errors.AsType[*Mismatch](err)
			return ok && m.Program == Number+1
		}},
		{`{"event": "failed", "component": "etcd", "error": "no space", "hint": "make some"}`, func(err error) bool {
			f, ok := errors.AsType[*Failed](err)
			return ok && *f == Failed{"etcd", "no space", "make some"}
		}},
		{`panic: something`, func(err error) bool { _, ok := errors.AsType[*json.SyntaxError](err); return ok }},
	} {
		c, p := connect(t)
		p.say("%s", test.line)
		p.say(`{"event": "more", "that": "must not block"}`)
		if _, err := c.Ready(t.Context()); !test.is(err) {
			t.Errorf("after %s Ready returned %v", test.line, err)
		}
	}
	c, p := connect(t)
	_ = p.events.Close()
	if _, err := c.Ready(t.Context()); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end Ready returned %v", err)
	}
}

// TestCalls: several wait at once, and each gets its own answer.
func TestCalls(t *testing.T) {
	c, p := connect(t)
	go func() {
		a, b := p.next(), p.next()
		p.say(`{"event": "reply", "id": %d, "result": %s}`, b.ID, b.Params)
		p.say(`{"event": "reply", "id": 99, "result": "nobody's"}`)
		p.say(`{"event": "reply", "id": %d, "result": %s}`, a.ID, a.Params)
		p.say(`{"event": "reply", "id": %d, "error": "not today"}`, p.next().ID)
	}()
	var calls sync.WaitGroup
	for i := range 2 {
		calls.Go(func() {
			var got int
			if err := c.Call(t.Context(), "echo", i, &got); err != nil || got != i {
				t.Errorf("Call(%d) = %d, %v", i, got, err)
			}
		})
	}
	calls.Wait()
	if err := c.Call(t.Context(), "echo", nil, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("a refused Call returned %v", err)
	}
}

func TestCallEnds(t *testing.T) {
	c, p := connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { p.next(); cancel() }()
	if err := c.Call(ctx, "long", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Call returned %v", err)
	}
	go func() { p.next(); _ = p.events.Close() }()
	if err := c.Call(t.Context(), "long", nil, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("a Call to a program that ended returned %v", err)
	}
}

package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/protocol"
)

func TestConfig(t *testing.T) {
	for _, tc := range []struct {
		config protocol.Config
		want   string
	}{
		{protocol.Config{Protocol: 1, Name: "a", Dir: "/d"},
			`{"protocol":1,"name":"a","dir":"/d"}`},
		{protocol.Config{Protocol: 1, Spec: protocol.Spec{Nodes: []protocol.Node{}, Controllers: new(false), APIServerFlags: []string{"--v=2"}}},
			`{"protocol":1,"name":"","dir":"","nodes":[],"controllers":false,"apiServerFlags":["--v=2"]}`},
		{protocol.Config{Spec: protocol.Spec{Nodes: []protocol.Node{{Name: "n", Taints: []string{"k=v:NoSchedule"}, Capacity: map[string]string{"cpu": "2"}}}}},
			`{"protocol":0,"name":"","dir":"","nodes":[{"name":"n","taints":["k=v:NoSchedule"],"capacity":{"cpu":"2"}}]}`},
	} {
		got, err := json.Marshal(tc.config)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// conn returns a connection to a program that says these lines.
func conn(lines ...string) (*protocol.Conn, *strings.Builder) {
	var sent strings.Builder
	return protocol.NewConn(strings.NewReader(strings.Join(lines, "\n")), &sent, func() error { return nil }), &sent
}

func TestCall(t *testing.T) {
	c, sent := conn(
		`{"event":"hello","protocol":1,"new key":[1]}`,
		`{"event":"a kind of later versions"}`,
		`{"event":"reply","id":7,"result":{"ready":false}}`,
		`{"event":"reply","id":1,"result":{"ready":true,"pid":42,"components":[{"name":"etcd","state":"ready"}]}}`,
		`{"event":"reply","id":2,"error":"no such method"}`,
	)
	var got protocol.Status
	var seen []protocol.EventName
	if err := c.Call("status", nil, &got, func(e protocol.Event) { seen = append(seen, e.Name) }); err != nil {
		t.Fatal(err)
	}
	want := protocol.Status{Ready: true, PID: 42, Components: []protocol.Component{{Name: "etcd", State: protocol.StateReady}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(seen) != 3 {
		t.Errorf("events before the reply: %v", seen)
	}
	err := c.Call("dance", map[string]string{"name": "polka"}, nil, func(protocol.Event) {})
	if refusal, ok := errors.AsType[*protocol.Refusal](err); !ok || *refusal != (protocol.Refusal{Method: "dance", Reason: "no such method"}) {
		t.Errorf("refused: %v", err)
	}
	for reason, unknown := range map[string]bool{`unknown method "dance"`: true, `unknown method "sing"`: false, "no such method": false} {
		if r := (&protocol.Refusal{Method: "dance", Reason: reason}); r.UnknownMethod() != unknown {
			t.Errorf("%s: unknown %t", reason, !unknown)
		}
	}
	if err := c.Call("status", nil, &got, func(protocol.Event) {}); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	if want := `{"id":1,"method":"status"}` + "\n" + `{"id":2,"method":"dance","params":{"name":"polka"}}` + "\n"; !strings.HasPrefix(sent.String(), want) {
		t.Errorf("sent %q", sent)
	}
}

func TestEndlessLine(t *testing.T) {
	c, _ := conn(strings.Repeat("x", 2<<20))
	if _, err := c.Read(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("error: %v", err)
	}
}

func TestSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if pid, ok := protocol.Peer(socket); ok != (runtime.GOOS == "linux" || runtime.GOOS == "darwin") || ok && pid != os.Getpid() {
		t.Errorf("peer %d, %v", pid, ok)
	}
	c, err := protocol.Dial(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer c.Until(ctx)()
	cancel()
	if _, err := c.Read(); err == nil {
		t.Error("a read goes on after its context ended")
	}
	if _, ok := protocol.Peer(socket + "x"); ok {
		t.Error("a missing socket has a peer")
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"event":"ready","server":"https://127.0.0.1:6443","elapsedMs":800}`))
	f.Add([]byte(`{"event":"reply","id":1,"result":{}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := protocol.ParseEvent(line)
		if err == nil && e.Name == "" {
			t.Error("an event without a name")
		}
		if err == nil && !json.Valid(line) {
			t.Error("accepted what is not JSON")
		}
	})
}

package protocol_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// The lines are the contract with programs that share no code with this one.
func TestEncode(t *testing.T) {
	for _, tt := range []struct {
		event protocol.Event
		want  string
	}{
		{protocol.Hello{Protocol: 2, Version: "v0.1.0", Kubernetes: "1.37.1", PID: 7},
			`{"event":"hello","protocol":2,"version":"v0.1.0","kubernetes":"1.37.1","pid":7}`},
		{protocol.Progress{Component: protocol.Etcd, State: protocol.StateReady, ElapsedMs: 12},
			`{"event":"progress","component":"etcd","state":"ready","elapsedMs":12}`},
		{protocol.Note{Component: protocol.Nodes, Text: "no limits"}, `{"event":"note","component":"nodes","text":"no limits"}`},
		{protocol.Ready{Server: "https://127.0.0.1:1", Kubeconfig: "/k", Registry: "127.0.0.1:2", ElapsedMs: 3},
			`{"event":"ready","server":"https://127.0.0.1:1","kubeconfig":"/k","registry":"127.0.0.1:2","elapsedMs":3}`},
		{protocol.Failed{Component: protocol.APIServer, Error: `"quoted"`, Hint: "h"},
			`{"event":"failed","component":"apiserver","error":"\"quoted\"","hint":"h"}`},
		{protocol.Stopped{Reason: protocol.ByStdin}, `{"event":"stopped","reason":"stdin"}`},
		{protocol.DoorRequest{Door: "door-1", User: "u", Verb: "get", Path: "/version", Status: 200, LatencyMs: 1.5},
			`{"event":"request","door":"door-1","user":"u","verb":"get","path":"/version","status":200,"latencyMs":1.5}`},
	} {
		got, err := protocol.Encode(tt.event)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want+"\n" {
			t.Errorf("got  %s want %s", got, tt.want)
		}
	}
}

func TestReadConfig(t *testing.T) {
	const valid = `{"protocol": 3, "name": "a", "dir": "/d", "unknown": [], "nodes": [], "controllers": false, "apiServerFlags": ["--v=1"],
		"featureGates": {"B": true, "A": false}, "runtimeConfig": {"api/all": "true", "api/beta": "false"}}`
	c, err := protocol.ReadConfig(strings.NewReader(valid))
	if err != nil {
		t.Fatal(err)
	}
	if c.Nodes == nil || len(c.Nodes) != 0 || c.RunControllers() {
		t.Errorf("got %+v", c)
	}
	want := []string{"--feature-gates=A=false,B=true", "--runtime-config=api/all=true,api/beta=false", "--v=1"}
	if got := c.ServerFlags(); !slices.Equal(got, want) {
		t.Errorf("flags %q, want %q", got, want)
	}
	c, err = protocol.ReadConfig(strings.NewReader(`{"protocol": 3, "name": "a", "dir": "/d"}`))
	if err != nil || c.Nodes != nil || !c.RunControllers() || len(c.ServerFlags()) != 0 {
		t.Errorf("defaults: %+v, %v", c, err)
	}
	for _, invalid := range []string{
		``, `[]`, `{`,
		`{"name": "a", "dir": "/d"}`,
		`{"protocol": 2, "name": "a", "dir": "/d"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "nodeKind": "metal"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "nodeKind": "real"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "nodeKind": "plain", "nodeProgram": "slipway-node"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "nodeKind": "simulated", "simulateMissingImages": true}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "simulateMissingImages": true}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "nodeKind": "simulated", "egress": true}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "nodes": [{"name": "a"}], "egress": true}`,
		`{"protocol": 3, "dir": "/d"}`,
		`{"protocol": 3, "name": "a"}`,
		`{"protocol": 3, "name": "a", "dir": "d"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "socket": "s"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "socket": "/` + strings.Repeat("s", 103) + `"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "port": 70000}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "registryPort": 70000}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "nodes": "two"}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "featureGates": {"A": "true"}}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "featureGates": {"A,B": true}}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "runtimeConfig": {"a=b": "true"}}`,
		`{"protocol": 3, "name": "a", "dir": "/d", "runtimeConfig": {"a": "true,b=true"}}`,
	} {
		if _, err := protocol.ReadConfig(strings.NewReader(invalid)); !errors.Is(err, protocol.ErrConfig) {
			t.Errorf("%s: %v", invalid, err)
		}
	}
}

// TestJoins: a real node joins where nothing is said of nodes, and nowhere else.
func TestJoins(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`:                         true,
		`{"controllers": true}`:      true,
		`{"controllers": false}`:     false,
		`{"nodes": []}`:              false,
		`{"nodes": [{"name": "a"}]}`: false,
		`{"nodeKind": "simulated"}`:  false,
		`{"nodeKind": "real"}`:       false,
		`{"nodeKind": "plain"}`:      false,
	} {
		var spec protocol.Spec
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
		if got := spec.Joins(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, seed := range []string{`{"id": 1, "method": "status"}`, `{"id": "x"}`, `{"method": ""}`, `[]`, `null`, `{"id":9223372036854775808,"method":"stop"}`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := protocol.ParseRequest(line)
		if err == nil && r.Method == "" {
			t.Error("a request without a method")
		}
		if err != nil && !errors.Is(err, protocol.ErrRequest) {
			t.Errorf("not an ErrRequest: %v", err)
		}
	})
}

func TestLogTellsEverythingToLateFollowers(t *testing.T) {
	log := protocol.NewLog()
	log.Publish(protocol.Stopped{Reason: "1"})
	var early, late []string
	collect := func(to *[]string) func([]byte) error {
		return func(line []byte) error {
			*to = append(*to, string(line))
			return nil
		}
	}
	done := make(chan error)
	go func() { done <- log.Follow(t.Context(), collect(&early)) }()
	log.Publish(protocol.Stopped{Reason: "2"})
	log.Close()
	log.Publish(protocol.Stopped{Reason: "too late"})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := log.Follow(t.Context(), collect(&late)); err != nil {
		t.Fatal(err)
	}
	if len(early) != 2 || fmt.Sprint(early) != fmt.Sprint(late) {
		t.Errorf("early %q, late %q", early, late)
	}
}

func TestSlowFollowerHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := protocol.NewLog()
		stuck := make(chan struct{})
		slow := make(chan error)
		go func() {
			slow <- log.Follow(t.Context(), func([]byte) error { <-stuck; return nil })
		}()
		for range 1000 {
			log.Publish(protocol.Progress{})
		}
		log.Close()
		count := 0
		if err := log.Follow(t.Context(), func([]byte) error { count++; return nil }); err != nil || count != 1000 {
			t.Errorf("%d events, %v", count, err)
		}
		close(stuck)
		if err := <-slow; err != nil {
			t.Error(err)
		}
	})
}

func TestFollowEnds(t *testing.T) {
	broken := errors.New("broken")
	log := protocol.NewLog()
	log.Publish(protocol.Progress{})
	if err := log.Follow(t.Context(), func([]byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a follower that cannot write: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := log.Follow(ctx, func([]byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a follower whose time is over: %v", err)
	}
}

type echo struct {
	N int `json:"n"`
}

// methods answer echo with its parameters, fail with an error and stop with an after-thought.
func methods(stopped chan<- struct{}) protocol.Methods {
	return protocol.Methods{
		"echo": protocol.Answer(func(p echo) (any, error) { return p, nil }),
		"fail": protocol.Answer(func(protocol.Empty) (any, error) { return nil, errors.New("no") }),
		"stop": func(json.RawMessage) (any, func(), error) { return protocol.Empty{}, func() { close(stopped) }, nil },
	}
}

func TestServeAnswersAndTells(t *testing.T) {
	log := protocol.NewLog()
	log.Publish(protocol.Hello{})
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	stopped, ended := make(chan struct{}), make(chan struct{})
	served := make(chan error, 1)
	go func() {
		served <- protocol.Serve(t.Context(), in, out, log, with(methods(stopped)), func() { close(ended) })
	}()
	lines := bufio.NewScanner(answers)
	next := func() string {
		if !lines.Scan() {
			t.Fatalf("no more lines: %v", lines.Err())
		}
		return lines.Text()
	}
	if got := next(); !strings.Contains(got, `"event":"hello"`) {
		t.Errorf("first line %s", got)
	}
	for _, tt := range []struct{ request, want string }{
		{`{"id": 1, "method": "echo", "params": {"n": 1}}`, `{"event":"reply","id":1,"result":{"n":1}}`},
		{`{"id": 1, "method": "echo"}`, `{"event":"reply","id":1,"result":{"n":0}}`},
		{`{"id": 1, "method": "echo", "params": null}`, `{"event":"reply","id":1,"result":{"n":0}}`},
		{`{"id": 1, "method": "echo", "params": {"m": 1}}`, `{"event":"reply","id":1,"error":"invalid request: params: json: unknown field \"m\""}`},
		{`{"id": 2, "method": "fail"}`, `{"event":"reply","id":2,"error":"no"}`},
		{`{"id": 3, "method": "other"}`, `{"event":"reply","id":3,"error":"unknown method \"other\""}`},
		{`{"id": 4}`, `{"event":"reply","id":4,"error":"invalid request: no method"}`},
		{"\n" + `{"id": 5, "method": "stop"}`, `{"event":"reply","id":5,"result":{}}`},
	} {
		go fmt.Fprintln(requests, tt.request)
		if got := next(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.request, got, tt.want)
		}
	}
	<-stopped
	_ = requests.Close()
	<-ended
	log.Publish(protocol.Stopped{Reason: protocol.ByStdin})
	if got := next(); !strings.Contains(got, `"stopped"`) {
		t.Errorf("after the end of requests: %s", got)
	}
	log.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestListenerLetsClientsReadTheEnd(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := protocol.NewLog()
	listener := protocol.NewListener(log, everyClient(nil))
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		listener.Accept(t.Context(), socket, nil)
	}()
	log.Publish(protocol.Hello{})
	conn, err := net.Dial("tcp", socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	if !lines.Scan() {
		t.Fatal("no hello")
	}
	log.Publish(protocol.Stopped{})
	log.Close()
	listener.Wait(t.Context())
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if len(rest) != 1 || !strings.Contains(rest[0], "stopped") {
		t.Errorf("the rest: %q", rest)
	}
	_ = socket.Close()
	<-accepted
}

func TestOverlongRequestEndsOnlyTheClient(t *testing.T) {
	log := protocol.NewLog()
	ended := make(chan struct{})
	served := make(chan error, 1)
	go func() {
		long := strings.NewReader(strings.Repeat("x", 2<<20))
		served <- protocol.Serve(t.Context(), long, io.Discard, log, with(nil), func() { close(ended) })
	}()
	<-ended
	log.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestLongRequest shows that what takes long delays only the answers behind it.
func TestLongRequest(t *testing.T) {
	log := protocol.NewLog()
	begun, finish := make(chan struct{}), make(chan struct{})
	long := protocol.Methods{
		"long": protocol.Answer(func(protocol.Empty) (protocol.Empty, error) {
			close(begun)
			<-finish
			return protocol.Empty{}, nil
		}),
		"short": protocol.Answer(func(protocol.Empty) (protocol.Empty, error) { return protocol.Empty{}, nil }),
	}
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	ended, served := make(chan struct{}), make(chan error, 1)
	go func() { served <- protocol.Serve(t.Context(), in, out, log, with(long), func() { close(ended) }) }()
	lines := bufio.NewScanner(answers)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("got %q, want %s", lines.Text(), want)
		}
	}
	fmt.Fprintln(requests, `{"id": 1, "method": "long"}`)
	fmt.Fprintln(requests, `{"id": 2, "method": "short"}`)
	<-begun
	log.Publish(protocol.Hello{})
	expect(`"hello"`)
	_ = requests.Close()
	<-ended // is noticed meanwhile
	close(finish)
	expect(`"id":1`)
	expect(`"id":2`)
	log.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// everyClient gets the same methods.
func everyClient(m protocol.Methods) func() (func(protocol.Send) protocol.Methods, func()) {
	return func() (func(protocol.Send) protocol.Methods, func()) { return with(m), func() {} }
}

// with are methods that send no events.
func with(m protocol.Methods) func(protocol.Send) protocol.Methods {
	return func(protocol.Send) protocol.Methods { return m }
}

// TestListenerNoticesWhoIsGone: once, and when all that a client asked for is done.
func TestListenerNoticesWhoIsGone(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	asked, finish, gone := make(chan struct{}), make(chan struct{}), make(chan int, 2)
	listener := protocol.NewListener(protocol.NewLog(), func() (func(protocol.Send) protocol.Methods, func()) {
		done := 0
		slow := protocol.Answer(func(protocol.Empty) (protocol.Empty, error) {
			asked <- struct{}{}
			<-finish
			done++
			return protocol.Empty{}, nil
		})
		return with(protocol.Methods{"slow": slow}), func() { gone <- done }
	})
	go listener.Accept(t.Context(), socket, nil)
	conn, err := net.Dial("tcp", socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(conn, `{"id": 1, "method": "slow"}`)
	<-asked
	_ = conn.Close()
	select {
	case <-gone:
		t.Error("the client was gone before its request was done")
	default:
	}
	close(finish)
	if done := <-gone; done != 1 {
		t.Errorf("%d requests were done when the client was gone, want 1", done)
	}
}

// TestHalfClosedClientIsAnswered is what `echo … | nc -U socket` does.
func TestHalfClosedClientIsAnswered(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := protocol.NewListener(protocol.NewLog(), everyClient(methods(nil)))
	go listener.Accept(t.Context(), socket, nil)
	defer socket.Close()
	conn, err := net.Dial("tcp", socket.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for id := range 3 {
		fmt.Fprintf(conn, `{"id": %d, "method": "echo"}`+"\n", id)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answers, err := io.ReadAll(conn)
	if err != nil || strings.Count(string(answers), `"reply"`) != 3 {
		t.Errorf("%q, %v", answers, err)
	}
}

// TestSend: an event that is sent to one client reaches no other, and none that comes later. One that the client does
// not read fails when the client is gone, before it is said to be.
func TestSend(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	sends, failed := make(chan protocol.Send, 3), make(chan error, 1)
	gone := make(chan struct{}, 2)
	listener := protocol.NewListener(protocol.NewLog(), func() (func(protocol.Send) protocol.Methods, func()) {
		return func(send protocol.Send) protocol.Methods {
			sends <- send
			return methods(nil)
		}, func() { gone <- struct{}{} }
	})
	go listener.Accept(t.Context(), socket, nil)
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", socket.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	one := dial()
	send := <-sends
	if err := send(protocol.DoorRequest{Door: "mine"}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(one, `{"id": 1, "method": "echo"}`)
	other := dial()
	defer other.Close()
	fmt.Fprintln(other, `{"id": 2, "method": "echo"}`)
	lines := bufio.NewScanner(one)
	for _, want := range []string{`"door":"mine"`, `"id":1`} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("the client that it is for reads %q, want %s", lines.Text(), want)
		}
	}
	if late := bufio.NewScanner(other); !late.Scan() || !strings.Contains(late.Text(), `"id":2`) {
		t.Errorf("another client reads %q", late.Text())
	}
	go func() {
		for {
			if err := send(protocol.DoorRequest{Door: strings.Repeat("x", 1<<20)}); err != nil {
				failed <- err
				return
			}
		}
	}()
	if err := one.(*net.TCPConn).CloseWrite(); err != nil { // it stays, and reads nothing
		t.Fatal(err)
	}
	<-failed
	<-gone
	_ = one.Close()
}

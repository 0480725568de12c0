package dev

import (
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"sync/atomic"
	"testing"
)

// RPCServer answers as Delve does. The name is that of Delve's service.
type RPCServer struct{ running atomic.Bool }

// A StateIn is what Delve is asked.
type StateIn struct{ NonBlocking bool }

// A StateOut is its answer.
type StateOut struct{ State struct{ Running bool } }

// State is Delve's method.
func (s *RPCServer) State(in StateIn, out *StateOut) error {
	out.State.Running = in.NonBlocking && s.running.Load()
	return nil
}

// TestDebuggerStopped: a manager counts as stopped until Delve says that it runs, and again at a breakpoint.
func TestDebuggerStopped(t *testing.T) {
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	d := NewDebugger(address)
	defer d.Close()
	if !d.Stopped() {
		t.Error("nothing listens yet, and the manager counts as running")
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	delve, server := &RPCServer{}, rpc.NewServer()
	if err := server.Register(delve); err != nil {
		t.Fatal(err)
	}
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go server.ServeCodec(jsonrpc.NewServerCodec(conn))
		}
	}()
	for _, running := range []bool{false, true, false} {
		delve.running.Store(running)
		if d.Stopped() == running {
			t.Errorf("Stopped is %v although Delve says running: %v", !running, running)
		}
	}
}

package dev

import (
	"context"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"slices"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// debugger is Delve's command.
const debugger = "dlv"

// CheckDebugger reports that Delve is missing.
func CheckDebugger() error {
	_, err := process.Command(debugger)
	if process.IsMissing(err) {
		return &report.Error{What: "Delve is not on PATH", Where: debugger, Next: "go install github.com/go-delve/delve/cmd/dlv@latest"}
	}
	return err
}

// underDebugger is a command that runs another one under Delve, which prints where it listens.
func underDebugger(address string, command []string, flags ...string) []string {
	words := append([]string{debugger, "exec", command[0], "--headless", "--accept-multiclient", "--api-version=2", "--listen=" + address}, flags...)
	return slices.Concat(words, []string{"--"}, command[1:])
}

// Debugged is the seat of a manager under Delve, which waits at an address for a client before the manager begins.
func (s Seat) Debugged(address string) Seat {
	s.Command = underDebugger(address, s.Command)
	return s
}

// DebuggerAddress is one at which a Delve can listen: the former one if that is free, so that a client finds the next
// Delve where the last one was.
func DebuggerAddress(former string) (string, error) {
	if former != "" {
		if listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", former); err == nil {
			return former, listener.Close()
		}
	}
	return freeAddress()
}

// A Debugger is a Delve that runs a manager.
type Debugger struct {
	Address string // where it listens

	mu      sync.Mutex
	client  *rpc.Client
	stopped bool // at the last look
}

// NewDebugger is for the Delve that is to listen at an address. It has to be closed.
func NewDebugger(address string) *Debugger { return &Debugger{Address: address, stopped: true} }

// debuggerLimit bounds an answer of Delve.
const debuggerLimit = time.Second

// Stopped reports whether the manager is kept from working: by a breakpoint, or since no client has let it begin. If
// Delve does not answer, it is as at the last look.
func (d *Debugger) Stopped() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client == nil {
		conn, err := net.DialTimeout("tcp", d.Address, debuggerLimit)
		if err != nil {
			return d.stopped
		}
		d.client = jsonrpc.NewClient(conn)
	}
	var got struct{ State struct{ Running bool } }
	call := d.client.Go("RPCServer.State", struct{ NonBlocking bool }{true}, &got, make(chan *rpc.Call, 1))
	select {
	case <-call.Done:
		if call.Error == nil {
			d.stopped = !got.State.Running
			return d.stopped
		}
	case <-time.After(debuggerLimit):
	}
	_ = d.client.Close() // the next look connects anew
	d.client = nil
	return d.stopped
}

// Close ends the connection.
func (d *Debugger) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client == nil {
		return nil
	}
	return d.client.Close()
}

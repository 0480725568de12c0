package machine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
)

// Options configure [Start] and [StartPlain].
type Options struct {
	Program string    // the path of slipway-container
	State   string    // an absolute path; has a folder for each node
	Log     io.Writer // for errors; may be nil
}

// NodeOptions configure a node.
type NodeOptions struct {
	Name    string
	Program string      // the path of slipway-node
	Talk    *os.File    // the node's end of [Talk]; the caller closes it
	Log     io.Writer   // for the node's log, line by line; may be nil
	Ways    fdpass.Ways // connections outside the nodes' network; a plain node has the machine's instead
}

// Node is a node that has been started.
type Node struct {
	ended chan struct{}
	end   end // valid when ended is closed
}

// end is the way a node ended.
type end struct {
	status      string
	code        int  // the exit status of its process
	withMachine bool // it ended with its machine
}

// Ended is closed when all processes of the node have ended.
func (n *Node) Ended() <-chan struct{} { return n.ended }

// Status returns how the node ended. It may be called after that.
func (n *Node) Status() string { return n.end.status }

// crashStatus is the exit status of a Go program that panics.
const crashStatus = 2

// Crashed reports whether the node's program ended with a panic. It may be called after the end.
func (n *Node) Crashed() bool { return n.end.code == crashStatus }

// WithMachine reports whether the node ended because its machine did. It may be called after the end.
func (n *Node) WithMachine() bool { return n.end.withMachine }

// Forbidden is an [ErrForbidden] with the reason and, if known, the command that allows the namespaces.
type Forbidden struct {
	Fix string
	Err error
}

func (f *Forbidden) Error() string {
	if f.Fix == "" {
		return fmt.Sprintf("%v: %v", ErrForbidden, f.Err)
	}
	return fmt.Sprintf("%v: `%s` allows them: %v", ErrForbidden, f.Fix, f.Err)
}

// Unwrap returns [ErrForbidden] and the reason.
func (f *Forbidden) Unwrap() []error { return []error{ErrForbidden, f.Err} }

// ErrForbidden means that this system does not give the user the namespaces that isolated nodes need.
var ErrForbidden = errors.New("this system forbids the namespaces that isolated nodes need")

// ErrNoWayOut means that the kernel cannot redirect pods' connections to the cluster's process.
var ErrNoWayOut = errors.New("this kernel cannot redirect pods' connections to the network")

// NoWayOut is an [ErrNoWayOut] with the missing part of the kernel.
type NoWayOut struct {
	Part string // a module, or an option of the kernel's build: CONFIG_…
	Err  error
}

func (n *NoWayOut) Error() string {
	return fmt.Sprintf("%v, because it has no %s (%v); %s. Clusters without --egress do not need it", ErrNoWayOut, n.Part, n.Err, n.fix())
}

// fix returns advice. modprobe loads the modules that nft_tproxy depends on, too.
func (n *NoWayOut) fix() string {
	if strings.HasPrefix(n.Part, "CONFIG_") {
		return "use a kernel with that option"
	}
	return "`sudo modprobe nft_tproxy` adds it if the kernel has that module"
}

// Unwrap returns [ErrNoWayOut] and the kernel's error.
func (n *NoWayOut) Unwrap() []error { return []error{ErrNoWayOut, n.Err} }

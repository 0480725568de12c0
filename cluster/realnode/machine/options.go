package machine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
)

// Options say how a machine is started.
type Options struct {
	Program string    // the path of slipway-container
	State   string    // an absolute folder with a folder for each node
	Log     io.Writer // for what it complains about; may be nil
}

// NodeOptions say how a node is started.
type NodeOptions struct {
	Name    string
	Program string      // the path of slipway-node
	Talk    *os.File    // the node's end of the connection that begins with its configuration; it stays the caller's
	Log     io.Writer   // for what it logs, in lines; may be nil
	Ways    fdpass.Ways // of the host's connections, which it has instead of a network; a plain node has the machine's
}

// Node is a node that was started.
type Node struct {
	ended chan struct{}
	end   end // once it has ended
}

// end is how a node ended.
type end struct {
	status string
	code   int  // the exit status of its first process
	fell   bool // with its machine
}

// Ended is closed when the node and all that it had begun have ended.
func (n *Node) Ended() <-chan struct{} { return n.ended }

// Status says how it ended, once it has.
func (n *Node) Status() string { return n.end.status }

// crashStatus is the exit status of a Go program that panics.
const crashStatus = 2

// Crashed says whether its program ended with a panic, once it has.
func (n *Node) Crashed() bool { return n.end.code == crashStatus }

// WithMachine says whether it ended because its machine did, once it has.
func (n *Node) WithMachine() bool { return n.end.fell }

// Forbidden is [ErrForbidden] with why that is and, where one is known, the command that changes it.
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

// Unwrap gives both.
func (f *Forbidden) Unwrap() []error { return []error{ErrForbidden, f.Err} }

// ErrForbidden says that this system does not let its users have the namespaces that real nodes need.
var ErrForbidden = errors.New("this system forbids the namespaces that isolated nodes need")

// ErrNoWayOut says that the kernel cannot lead pods' connections to the cluster's process.
var ErrNoWayOut = errors.New("this kernel cannot redirect pods' connections to the network")

// NoWayOut is [ErrNoWayOut] with what the kernel lacks.
type NoWayOut struct {
	Part string // a module, or an option of the kernel's build, which begins with CONFIG_
	Err  error
}

func (n *NoWayOut) Error() string {
	return fmt.Sprintf("%v, because it has no %s (%v); %s. Clusters without --egress do not need it", ErrNoWayOut, n.Part, n.Err, n.fix())
}

// fix is how the kernel gets it. The module for tproxy brings the others with it.
func (n *NoWayOut) fix() string {
	if strings.HasPrefix(n.Part, "CONFIG_") {
		return "use a kernel with that option"
	}
	return "`sudo modprobe nft_tproxy` adds it if the kernel has that module"
}

// Unwrap gives both.
func (n *NoWayOut) Unwrap() []error { return []error{ErrNoWayOut, n.Err} }

package cri

import (
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Starter runs the processes of containers. There are two: that of package
// [github.com/slipway-dev/slipway/cluster/realnode/isolated], which has namespaces, and that of package
// [github.com/slipway-dev/slipway/cluster/realnode/plain], which has none.
type Starter interface {
	// Prepare finds out how a container is to be run, or why it cannot be.
	Prepare(Container) (Prepared, error)
	// Dial connects to a port of a pod as from within the pod.
	Dial(ctx context.Context, pod *podnet.Pod, port int) (net.Conn, error)
}

// Container is how the pod and the image describe a container.
type Container struct {
	ID        string
	Pod       *runtimeapi.PodSandboxConfig
	Config    *runtimeapi.ContainerConfig
	Image     imagestore.Image
	Network   *podnet.Pod // nil in the node's own network
	Dir       string      // the container's own, removed with it
	Points    string      // a folder for what containers share of what they have mounts on
	Args, Env []string
	WorkDir   string
	Mounts    []wire.Mount // of volumes
	Files     []wire.Mount // of what else a pod's containers find
}

// Prepared is a container that can be started.
type Prepared interface {
	// Start returns when the container's program runs, or why it does not.
	Start() (Process, error)
}

// Identified is a [Prepared] that gives its container a user.
type Identified interface {
	User() *runtimeapi.LinuxContainerUser
}

// Process is a container's first process.
type Process interface {
	// Streams are the other ends of its streams. Who reads one closes it.
	Streams() Streams
	// Signal sends a signal. SIGKILL is for all of the container.
	Signal(syscall.Signal)
	// Wait waits until all of the container has ended, and returns the first process's exit status.
	Wait() int
	// Enter runs one more process in the container until it ends or ctx does.
	Enter(context.Context, Entering) error
}

// Streams are those of a process: either a terminal or the other ones, whose input may be nil.
type Streams struct {
	Terminal       *os.File
	Stdin          io.WriteCloser
	Stdout, Stderr *os.File
}

// Entering is a process that is started in a container which runs.
type Entering struct {
	Args           []string
	Stdin          io.Reader // nil for none
	Stdout, Stderr io.Writer
	Terminal       bool
	Resize         <-chan remotecommand.TerminalSize
}

// Environment is that of the process: the container's, with a kind of terminal for one that has a terminal. An image or
// a pod may have named another kind.
func (e Entering) Environment(container []string) []string {
	named := func(entry string) bool { return strings.HasPrefix(entry, "TERM=") }
	if !e.Terminal || slices.ContainsFunc(container, named) {
		return container
	}
	return append(slices.Clone(container), defaultTerminal)
}

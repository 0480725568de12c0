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

// Starter runs the processes of containers. Package [github.com/slipway-dev/slipway/cluster/realnode/isolated] has one
// with namespaces, and package [github.com/slipway-dev/slipway/cluster/realnode/plain] one without.
type Starter interface {
	// Prepare makes all that a container needs to start. It fails if the starter does not support the container.
	Prepare(Container) (Prepared, error)
	// Dial connects to a port of a pod as a process in the pod would.
	Dial(ctx context.Context, pod *podnet.Pod, port int) (net.Conn, error)
}

// Container combines the pod's and the image's settings for a container.
type Container struct {
	ID        string
	Pod       *runtimeapi.PodSandboxConfig
	Config    *runtimeapi.ContainerConfig
	Image     imagestore.Image
	Network   *podnet.Pod // nil in the node's network
	Dir       string      // the container's own folder, removed with it
	Points    string      // a folder for mount points that containers share
	Args, Env []string
	WorkDir   string
	Mounts    []wire.Mount // of the pod's volumes
	Files     []wire.Mount // of the pod's other files and memory
}

// Prepared is a container that is ready to start.
type Prepared interface {
	// Start returns when the container's program runs, or with the reason why it does not.
	Start() (Process, error)
}

// Identified is a [Prepared] that sets the user of its container.
type Identified interface {
	User() *runtimeapi.LinuxContainerUser
}

// Process is a container's first process.
type Process interface {
	// Streams returns the runtime's ends of the streams. Their reader must close them.
	Streams() Streams
	// Signal sends a signal to the process. SIGKILL goes to the whole container.
	Signal(syscall.Signal)
	// Wait waits until all processes of the container have ended, and returns the first one's exit status.
	Wait() int
	// Enter runs another process in the container until it or ctx ends.
	Enter(context.Context, Entering) error
}

// Streams are the runtime's ends of a process's streams: a terminal alone, or the other streams, of which Stdin may be
// nil.
type Streams struct {
	Terminal       *os.File
	Stdin          io.WriteCloser
	Stdout, Stderr *os.File
}

// Entering describes another process for a running container.
type Entering struct {
	Args           []string
	Stdin          io.Reader // nil for none
	Stdout, Stderr io.Writer
	Terminal       bool
	Resize         <-chan remotecommand.TerminalSize
}

// Environment returns the container's environment. For a terminal it adds TERM, unless the image or the pod sets it.
func (e Entering) Environment(container []string) []string {
	named := func(entry string) bool { return strings.HasPrefix(entry, "TERM=") }
	if !e.Terminal || slices.ContainsFunc(container, named) {
		return container
	}
	return append(slices.Clone(container), defaultTerminal)
}

package kubelet

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"

	"github.com/slipway-dev/slipway/cluster/realnode/containerinit"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/isolated"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/seccomp"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// prepareIsolated prepares the process of an isolated node, the first of its namespaces, and returns its configuration.
func prepareIsolated() (nodeconfig.Config, *nodeconfig.Requests, error) {
	// podnet discards threads that entered a pod's network. The main thread cannot end, so no goroutine must use it for
	// that.
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte("slipway-node\x00")[0])), 0, 0, 0) // the kernel named it by the number of its file
	for fd := wire.FileConfig - 1; fd <= wire.FileHost; fd++ {
		unix.CloseOnExec(fd)
	}
	if err := containerinit.EnterRoot(); err != nil {
		return nodeconfig.Config{}, nil, err
	}
	return nodeconfig.Accept(os.NewFile(wire.FileConfig, "cluster"))
}

func isolatedPlatform(c nodeconfig.Config) (*platform, error) {
	network, err := setupNetwork(c)
	if err != nil {
		return nil, err
	}
	mounter, host := newMounts(), fdpass.NewClient(wire.FileHost, nil)
	starter, err := isolated.New(isolated.Options{
		Inside: os.NewFile(wire.FileInside, "slipway-container"), IDs: c.IDs, Filter: seccomp.Default(), Groups: groups(c, host),
	})
	if err != nil {
		return nil, err
	}
	return &platform{
		folders: isolatedFolders(), dial: host.DialContext, pulls: host.Transport(c.Registry), network: network, starter: starter,
		mounter: mounter, subpather: subpath.New(mounter), host: hostutil.NewHostUtil(), files: kubecontainer.RealOS{},
		listen: c.Address.String(), port: port, nodeIP: c.Address.String(),
	}, nil
}

// groups returns the cgroups that the host makes for containers, or nil if it cannot.
func groups(c nodeconfig.Config, host *fdpass.Client) isolated.Groups {
	if !c.Limits {
		return nil
	}
	return fdpass.HostGroups{Client: host}
}

func setupNetwork(c nodeconfig.Config) (*podnet.Network, error) {
	machine := os.NewFile(wire.FileMachine, "the machine's network")
	defer machine.Close()
	return podnet.Setup(podnet.Config{
		Machine: machine, Address: c.Address, Pods: c.Pods, Services: c.Services, Host: c.Machine, Number: c.Number,
	})
}

package cri

import (
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"sigs.k8s.io/cri-tools/pkg/framework"
	_ "sigs.k8s.io/cri-tools/pkg/validate" // the specs

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
	"github.com/slipway-dev/slipway/cluster/realnode/isolated"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/seccomp"
)

// fileHost is the number of the socket by which the node asks for cgroups.
const fileHost = 3

// node is the first process of a node's namespaces, and returns its exit status.
func node(dir string) int {
	unix.CloseOnExec(fileHost)
	socket := filepath.Join(dir, nodeFolder, "cri.sock")
	if err := serve(dir, socket); err != nil {
		fmt.Fprintln(os.Stderr, "critest's node:", err)
		return 1
	}
	if err := critest(dir, "unix://"+socket); err != nil {
		fmt.Fprintln(os.Stderr, "critest:", err)
		return 1
	}
	return 0
}

// serve serves the container runtime on a socket until the process ends.
func serve(dir, socket string) error {
	if err := mountOwn(); err != nil {
		return err
	}
	runtime, images, err := newRuntime(dir)
	if err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	runtimeapi.RegisterRuntimeServiceServer(server, &runtimeServer{runtime: runtime})
	runtimeapi.RegisterImageServiceServer(server, &imageServer{images: images})
	go func() { _ = server.Serve(listener) }()
	return nil
}

// mountOwn keeps the node's mounts to itself, and shows its own processes.
func mountOwn() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to the node: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// newRuntime makes the runtime as the kubelet's process does.
func newRuntime(dir string) (*cri.Runtime, *cri.Images, error) {
	network, err := newNetwork()
	if err != nil {
		return nil, nil, err
	}
	program, err := os.Open(filepath.Join(dir, containerProgram))
	if err != nil {
		return nil, nil, err
	}
	starter, err := isolated.New(isolated.Options{
		Inside: program, IDs: true, Filter: seccomp.Default(), Groups: fdpass.HostGroups{Client: fdpass.NewClient(fileHost, nil)},
	})
	if err != nil {
		return nil, nil, err
	}
	registry, err := newRegistry(dir)
	if err != nil {
		return nil, nil, err
	}
	own := filepath.Join(dir, nodeFolder)
	images := filepath.Join(own, "images")
	store, err := imagestore.Open(images, imagestore.Options{Transport: registry, Owners: true})
	if err != nil {
		return nil, nil, err
	}
	runtime, err := cri.New(cri.Options{
		Dir: filepath.Join(own, "containers"), Images: store, Network: network, Starter: starter, Version: "v0",
	})
	return runtime, cri.NewImages(store, images), err
}

// newNetwork sets up the node's network, and one for the machine that it is joined to.
func newNetwork() (*podnet.Network, error) {
	here, err := netns.Get()
	if err != nil {
		return nil, err
	}
	machine, err := netns.New()
	if err != nil {
		return nil, fmt.Errorf("make the machine's network: %w", err)
	}
	if err := netns.Set(here); err != nil {
		return nil, err
	}
	return podnet.Setup(podnet.Config{
		Machine: os.NewFile(uintptr(machine), "machine"), Address: netip.MustParseAddr("10.127.1.1"), Host: netip.MustParseAddr("10.127.0.1"),
		Pods: netip.MustParsePrefix("10.128.1.0/24"), Services: netip.MustParsePrefix("10.96.0.0/16"), Number: 1,
	})
}

// critest runs the specs.
func critest(dir, endpoint string) error {
	framework.RegisterFlags()
	if err := flag.CommandLine.Parse([]string{"-runtime-endpoint", endpoint, "-image-endpoint", endpoint}); err != nil {
		return err
	}
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.SkipStrings = skipped()
	reporter.Verbose, reporter.ShowNodeEvents, reporter.Succinct, reporter.NoColor = false, false, true, true
	reporter.JSONReport = filepath.Join(dir, nodeFolder, reportFile)
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(told{}, "critest", suite, reporter)
	return nil
}

// told is told of failures, which are in the report as well.
type told struct{}

func (told) Fail() {}

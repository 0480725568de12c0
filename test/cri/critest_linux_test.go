package cri

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/cgroup"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/subid"
)

// TestCritest: all of critest's specs pass but for those that specs_linux_test.go leaves out.
func TestCritest(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-critest")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can make the namespaces of a node without the machine that holds them")
	}
	dir := t.TempDir()
	for _, open := range []string{filepath.Dir(dir), dir} { // the node's root is another user
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, pkg := range map[string]string{containerProgram: "../../cluster/cmd/slipway-container", effectiveProgram: "./testdata/effective"} {
		build(t, filepath.Join(dir, name), pkg)
	}
	unpackBusybox(t, dir)
	runNode(t, dir)
	judge(t, filepath.Join(dir, nodeFolder, reportFile))
}

// The files in the folder of the test.
const (
	containerProgram = "slipway-container"
	effectiveProgram = "effective"
	nodeFolder       = "node" // the node's own
	reportFile       = "report.json"
)

func build(t *testing.T, at, pkg string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", at, ".")
	c.Dir, c.Env = pkg, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

const (
	nodeVariable = "SLIPWAY_CRITEST"
	// idRange is the number of ids that a node has.
	idRange = 1 << 16
)

// runNode runs the node, and critest in it.
func runNode(t *testing.T, dir string) {
	t.Helper()
	first := freeIDs(t)
	own := filepath.Join(dir, nodeFolder)
	if err := errors.Join(os.Mkdir(own, 0o755), os.Chown(own, first, first)); err != nil {
		t.Fatal(err)
	}
	ids := []syscall.SysProcIDMap{{HostID: first, Size: idRange}}
	c := exec.CommandContext(t.Context(), "/proc/self/exe")
	c.Env = append(os.Environ(), nodeVariable+"="+dir, "TMPDIR=/tmp")
	c.ExtraFiles = []*os.File{serveGroups(t, filepath.Join(dir, containerProgram))}
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: ids, GidMappings: ids, GidMappingsEnableSetgroups: true, Credential: &syscall.Credential{}, Setsid: true, Pdeathsig: syscall.SIGKILL,
	}
	if err := c.Run(); err != nil {
		t.Errorf("the node: %v", err) // which the report says more about, if there is one
	}
}

// freeIDs are some that nobody on this machine has.
func freeIDs(t *testing.T) (first int) {
	t.Helper()
	reserved, err := subid.Reserved("/")
	if err != nil {
		t.Fatal(err)
	}
	running, err := subid.Running("/proc")
	if err != nil {
		t.Fatal(err)
	}
	ids, err := subid.Free(subid.Range{First: 1 << 29, Count: 1 << 24}, idRange, os.Getpid()%256, slices.Concat(reserved, running))
	if err != nil {
		t.Fatal(err)
	}
	return ids.First
}

// serveGroups makes cgroups for the node, as a cluster's process does, and returns the node's end.
func serveGroups(t *testing.T, sweeper string) *os.File {
	t.Helper()
	tree, err := cgroup.Open(cgroup.Options{Sweeper: sweeper, Log: os.Stderr})
	if err != nil {
		t.Skipf("limits are part of what critest looks at: %v", err)
	}
	sockets, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs, served := os.NewFile(uintptr(sockets[0]), "host"), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(served)
		fdpass.Serve(ctx, sockets[1], fdpass.Host{Groups: tree.Node()})
	}()
	t.Cleanup(func() {
		cancel()
		<-served
		if err := errors.Join(theirs.Close(), tree.Close()); err != nil {
			t.Error(err)
		}
	})
	return theirs
}

// judge reads what critest has found out.
func judge(t *testing.T, report string) {
	t.Helper()
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var reports []types.Report
	if err := json.Unmarshal(text, &reports); err != nil {
		t.Fatal(err)
	}
	counts, used := map[types.SpecState]int{}, map[string]bool{}
	for _, r := range reports {
		for _, spec := range r.SpecReports {
			if spec.LeafNodeType != types.NodeTypeIt {
				continue
			}
			counts[spec.State]++
			if err := judgeSpec(spec, used); err != nil {
				t.Errorf("%s: %v", spec.FullText(), err)
			}
		}
	}
	for _, l := range leftOut {
		if !used[l.specs] && l.specs != selinux {
			t.Errorf("no spec has the name %q of those that are left out", l.specs)
		}
	}
	t.Logf("%d passed, %d failed, %d left out", counts[types.SpecStatePassed], counts[types.SpecStateFailed], counts[types.SpecStateSkipped])
	if counts[types.SpecStatePassed] < fewest {
		t.Errorf("only %d specs passed", counts[types.SpecStatePassed])
	}
}

// fewest guards against a suite that leaves out nearly everything.
const fewest = 60

// judgeSpec says what is wrong with a spec, and notes why it was left out.
func judgeSpec(spec types.SpecReport, used map[string]bool) error {
	switch name := spec.FullText(); {
	case spec.State == types.SpecStatePassed:
		return nil
	case spec.State != types.SpecStateSkipped:
		return fmt.Errorf("%s: %s", spec.State, spec.Failure.Message)
	default:
		i := slices.IndexFunc(leftOut, func(l specs) bool { return strings.Contains(name, l.specs) })
		if i < 0 {
			return fmt.Errorf("critest left it out: %s", spec.Failure.Message)
		}
		used[leftOut[i].specs] = true
		return nil
	}
}

package isolated

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/cgroup"
	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/seccomp"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// bed is what containers of a test start from: an image whose program is slipway-container, which waits for the end of
// its input as "sweep", and ends with status 2 when it is called wrongly.
type bed struct {
	tb      testing.TB
	dir     string
	starter *Starter
	network *os.File // every pod's, which is that of the test
}

func newBed(tb testing.TB) *bed {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Skip("only root can start a container outside of a node, whose user namespace is what an ordinary user has")
	}
	b := &bed{tb: tb, dir: tb.TempDir()}
	program := filepath.Join(b.dir, "image", "program")
	b.putProgram(program)
	for _, open := range []string{filepath.Dir(b.dir), b.dir, filepath.Dir(program)} { // the container's root is another user
		if err := os.Chmod(open, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	f := b.open(program)
	b.network = b.open("/proc/self/ns/net")
	starter, err := New(Options{Inside: f, IDs: true, Filter: seccomp.Default(), Groups: b.groups(program)})
	if err != nil {
		tb.Fatal(err)
	}
	b.starter = starter
	return b
}

// built is slipway-container where that has been built already, as for the many short runs of a benchmark.
var built = flag.String("slipway-container", "", "the program slipway-container, to be copied instead of built")

func (b *bed) putProgram(at string) {
	b.tb.Helper()
	if *built != "" {
		program, err := os.ReadFile(*built)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(at), 0o755)
		}
		if err == nil {
			err = os.WriteFile(at, program, 0o755)
		}
		if err != nil {
			b.tb.Fatal(err)
		}
		return
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", at, "github.com/slipway-dev/slipway/cluster/cmd/slipway-container")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.tb.Fatalf("%v\n%s", err, out)
	}
}

func (b *bed) open(path string) *os.File {
	b.tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.tb.Fatal(err)
	}
	b.tb.Cleanup(func() { _ = f.Close() })
	return f
}

// groups are those that a host makes for a node, where it can.
func (b *bed) groups(program string) Groups {
	b.tb.Helper()
	tree, err := cgroup.Open(cgroup.Options{Sweeper: program, Log: os.Stderr})
	if errors.Is(err, cgroup.ErrForbidden) {
		b.tb.Log("without limits:", err)
		return nil
	}
	if err != nil {
		b.tb.Fatal(err)
	}
	sockets, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		b.tb.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		fdpass.Serve(context.Background(), sockets[1], fdpass.Host{Groups: tree.Node()})
	}()
	client := fdpass.NewClient(sockets[0], nil)
	b.tb.Cleanup(func() {
		client.Close()
		<-served
		if err := tree.Close(); err != nil {
			b.tb.Error(err)
		}
	})
	return fdpass.HostGroups{Client: client}
}

// describe describes a container as the kubelet does for a pod that says nothing of its security.
func (b *bed) describe() cri.Container {
	b.tb.Helper()
	dir, err := os.MkdirTemp(b.dir, "container-")
	if err != nil {
		b.tb.Fatal(err)
	}
	return cri.Container{
		ID: filepath.Base(dir), Dir: dir, Points: filepath.Join(b.dir, "points"), Image: imagestore.Image{Root: filepath.Join(b.dir, "image")},
		Pod: &runtimeapi.PodSandboxConfig{Hostname: "pod"}, Args: []string{"/program", wire.PartSweep}, WorkDir: "/",
		Network: &podnet.Pod{Namespace: b.network}, Mounts: b.mounts(dir),
		Config: &runtimeapi.ContainerConfig{Stdin: true, Linux: &runtimeapi.LinuxContainerConfig{SecurityContext: &runtimeapi.LinuxContainerSecurityContext{
			MaskedPaths: []string{
				"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
				"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
			},
			ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
			Seccomp:       &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault},
		}}},
	}
}

func (b *bed) prepare(c cri.Container) cri.Prepared {
	b.tb.Helper()
	p, err := b.starter.Prepare(c)
	if err != nil {
		b.tb.Fatal(err)
	}
	return p
}

// mounts are those that every pod has.
func (b *bed) mounts(dir string) []wire.Mount {
	b.tb.Helper()
	token := filepath.Join(dir, "serviceaccount")
	if err := os.Mkdir(token, 0o755); err != nil {
		b.tb.Fatal(err)
	}
	mounts := []wire.Mount{{Source: token, Target: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}}
	for _, target := range []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/dev/termination-log"} {
		source := filepath.Join(dir, filepath.Base(target))
		if err := os.WriteFile(source, nil, 0o644); err != nil {
			b.tb.Fatal(err)
		}
		mounts = append(mounts, wire.Mount{Source: source, Target: target})
	}
	return mounts
}

func (b *bed) start(p cri.Prepared) cri.Process {
	b.tb.Helper()
	c, err := p.Start()
	if err != nil {
		b.tb.Fatal(err)
	}
	return c
}

func end(c cri.Process) {
	c.Signal(syscall.SIGKILL)
	c.Wait()
	closeFiles(c.Streams().Stdout, c.Streams().Stderr)
	_ = c.Streams().Stdin.Close()
}

// TestStartWhateverIsOpen: containers start, and are entered, whatever numbers the files have that are open. One that
// has to make room for others is moved above all of them, wherever that is.
func TestStartWhateverIsOpen(t *testing.T) {
	b := newBed(t)
	p := b.prepare(b.describe())
	for range 120 {
		c := b.start(p).(*isolated)
		back := b.lowest(&c.first)
		var exit *exec.ExitError
		err := c.Enter(t.Context(), cri.Entering{Args: []string{"/program"}})
		if !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("entered: %v", err)
		}
		back()
		end(c)
		b.open(os.DevNull) // so that all later ones have higher numbers
	}
}

// lowest gives a file the number of standard input until it is given back.
func (b *bed) lowest(f **os.File) (back func()) {
	b.tb.Helper()
	was := *f
	input, err := unix.Dup(unix.Stdin)
	if err == nil {
		err = unix.Dup3(int(was.Fd()), unix.Stdin, 0)
	}
	if err != nil {
		b.tb.Fatal(err)
	}
	*f = os.Stdin
	return func() {
		*f = was
		if err := errors.Join(unix.Dup3(input, unix.Stdin, 0), unix.Close(input)); err != nil {
			b.tb.Fatal(err)
		}
	}
}

// nodeMemory is what a node's process has of its own, in bytes, when some pods run: its page tables are copied with
// each start.
const nodeMemory = 32 << 20

// beLarge makes this process as large as a node's.
func beLarge(b *testing.B) {
	memory, err := unix.Mmap(-1, 0, nodeMemory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		b.Fatal(err)
	}
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) // where there are none that is refused
	for at := 0; at < len(memory); at += os.Getpagesize() {
		memory[at] = 1
	}
	b.Cleanup(func() { _ = unix.Munmap(memory) })
}

// BenchmarkStart is what a container takes from the kubelet's calls to make and to start it until its program is
// executed, when nothing else happens.
func BenchmarkStart(b *testing.B) {
	bed := newBed(b)
	beLarge(b)
	end(bed.start(bed.prepare(bed.describe()))) // the first one reads the program
	for b.Loop() {
		b.StopTimer()
		described := bed.describe()
		b.StartTimer()
		c := bed.start(bed.prepare(described))
		b.StopTimer()
		end(c)
		b.StartTimer()
	}
}

// TestSpawnerKilled: containers outlive what started them, and later ones are started by another one.
func TestSpawnerKilled(t *testing.T) {
	b := newBed(t)
	before := b.start(b.prepare(b.describe()))
	defer end(before)
	p := b.prepare(b.describe())
	was := b.starter.spawner.process
	if err := unix.Kill(was.pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	after := b.start(p)
	defer end(after)
	if b.starter.spawner.process == was {
		t.Error("started by a process that was killed")
	}
	for _, c := range []cri.Process{before, after} {
		var exit *exec.ExitError
		if err := c.Enter(t.Context(), cri.Entering{Args: []string{"/program"}}); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("entered: %v", err)
		}
	}
}

package test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// withoutNetfilter has the command, a line for each argument, that a test becomes in a process of its own: a program
// whose kernel has no nftables.
const withoutNetfilter = "SLIPWAY_TEST_WITHOUT_NETFILTER"

// beWithoutNetfilter becomes a program, below a filter of system calls by which sockets of netfilter are what they are
// without its modules.
func beWithoutNetfilter(command []string) error {
	runtime.LockOSThread() // the filter is this thread's, and so the program's
	const family, protocol, none = 16, 32, unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKET, Jf: 5},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: family},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.AF_NETLINK, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: protocol},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.NETLINK_NETFILTER, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: none},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := errors.Join(
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0),
		os.Unsetenv(withoutNetfilter),
	); err != nil {
		return err
	}
	return syscall.Exec(command[0], command, os.Environ())
}

// lacksNetfilter has a program find no nftables.
func lacksNetfilter(cmd *exec.Cmd) {
	cmd.Env = append(os.Environ(), withoutNetfilter+"="+strings.Join(append([]string{cmd.Path}, cmd.Args[1:]...), "\n"), "SLIPWAY_CLUSTER="+programPath)
	cmd.Path, cmd.Args = os.Args[0], []string{os.Args[0], "-test.run=^TestRealEgressIsMissing$"}
}

// TestRealEgressIsMissing: where the kernel has no nftables, a cluster that needs them is refused with what is missing
// and what adds it. One whose real node would join later runs, its pods stay simulated, and the status says why.
// [TestRealDurable] does not ask for it.
func TestRealEgressIsMissing(t *testing.T) {
	if command := os.Getenv(withoutNetfilter); command != "" {
		t.Fatal(beWithoutNetfilter(strings.Split(command, "\n")))
	}
	const why, fix = "--egress: this kernel cannot redirect pods' connections to the network, because it has no nfnetlink", "sudo modprobe nft_tproxy"
	t.Run("real", func(t *testing.T) {
		c := newConfig(t)
		c.NodeKind, c.NodeProgram, c.Egress = protocol.RealNodes, nodeProgram(), new(true)
		p := launch(t, c, lacksNetfilter)
		if e := p.next("failed"); !strings.Contains(e.Error, why) || !strings.Contains(e.Error, fix) {
			t.Errorf("it fails with %q", e.Error)
		}
		p.waitExit()
		if left, _ := filepath.Glob(filepath.Join(c.Dir, "nodes", "*", "*")); len(left) > 0 {
			t.Errorf("left are %q", left)
		}
	})
	t.Run("joining", func(t *testing.T) {
		c := newConfig(t)
		c.NodeKind, c.NodeProgram, c.Egress = protocol.DefaultNodes, nodeProgram(), new(true)
		p := launch(t, c, lacksNetfilter)
		p.next("ready")
		joining := &realCluster{program: p, t: t, client: p.clients(), image: "server:v1", ns: metav1.NamespaceDefault}
		joining.load(loaded)
		joining.send(`{"id":2,"method":"joinNode"}`)
		if e := joining.next("reply"); !strings.Contains(e.Error, why) {
			t.Errorf("a node joins: %q", e.Error)
		}
		if s := joining.status(); s.Nodes.Real != 0 || !strings.Contains(s.Nodes.Problem, fix) {
			t.Errorf("the status says %+v", s.Nodes)
		}
		joining.create(joining.pod("simulated"))
		joining.await("simulated", ready)
	})
}

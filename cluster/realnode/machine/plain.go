package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
	"github.com/slipway-dev/slipway/cluster/registry/peer"
)

// Plain is this machine as it is: nodes and pods are processes without namespaces.
type Plain struct {
	options Options
	why     *Forbidden // nil if the user asked for plain nodes

	mu    sync.Mutex
	nodes map[string]*plainNode
	links []string // to folders of nodes
	stop  bool
}

// plainNode is a node's process. The node exits when life is closed. presence ends with the node's last process.
type plainNode struct {
	Node
	cmd            *exec.Cmd
	life, presence *os.File
}

// StartPlain always succeeds. why is the reason for plain nodes, or nil if the user asked for them.
func StartPlain(o Options, why *Forbidden) *Plain {
	return &Plain{options: o, why: why, nodes: map[string]*plainNode{}}
}

// Limits returns false.
func (p *Plain) Limits() bool { return false }

// Unlimited returns in one line what plain processes lack.
func (p *Plain) Unlimited() string {
	return "pods are plain processes of this machine, without isolation"
}

// Notice returns a text for users: what plain processes lack, and why pods are such.
func (p *Plain) Notice() string {
	var b strings.Builder
	b.WriteString("pods are plain processes of this machine")
	if p.why != nil {
		fmt.Fprintf(&b, ", because %v", p.why.Err)
	}
	fmt.Fprintf(&b, `
  not isolated: files, processes and network are the machine's; no user ids, no limits, no read-only root
  all pods share one address: no two can use the same port, so run one replica; Services and cluster DNS do not work from pods
  images must be for %s/%s (slipway image build --platform), and find mounted files only by arguments or environment
`, runtime.GOOS, runtime.GOARCH)
	if p.why != nil && p.why.Fix != "" {
		fmt.Fprintf(&b, "  to allow isolated nodes: %s\n", p.why.Fix)
	}
	return strings.TrimRight(b.String(), "\n")
}

// IDs returns false: all processes have the user's id.
func (p *Plain) IDs() bool { return false }

// OwnNetwork returns false: the nodes are in this machine's network.
func (p *Plain) OwnNetwork() bool { return false }

// DialContext connects to an address of this machine's network, or to a node: a node's address exists in the API alone,
// and stands for loopback.
func (p *Plain) DialContext(ctx context.Context, kind, address string) (net.Conn, error) {
	if at, err := netip.ParseAddrPort(address); err == nil && network.Nodes.Contains(at.Addr()) {
		address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	return (&net.Dialer{Control: peer.OnBehalf}).DialContext(ctx, kind, address)
}

var errNoNetwork = errors.New("plain nodes have no network of their own")

// Listen always fails.
func (p *Plain) Listen(context.Context, string) (net.Listener, error) { return nil, errNoNetwork }

// ListenPacket always fails.
func (p *Plain) ListenPacket(context.Context, string) (net.PacketConn, error) {
	return nil, errNoNetwork
}

// ListenOutside always fails: pods have this machine's network.
func (p *Plain) ListenOutside(context.Context, string, []netip.Prefix) (net.Listener, error) {
	return nil, errNoNetwork
}

// Place returns a node's folders and a port that is free now. It makes the folders.
func (p *Plain) Place(node string) (*nodeconfig.Plain, error) {
	dir := filepath.Join(p.options.State, node)
	volumes := filepath.Join(p.options.State, wire.VolumesFolder)
	if err := errors.Join(os.MkdirAll(dir, plainMode), os.MkdirAll(volumes, plainMode)); err != nil {
		return nil, fmt.Errorf("make the node's folder: %w", err)
	}
	dir, err := p.short(dir)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a port for the kubelet: %w", err)
	}
	defer l.Close()
	return &nodeconfig.Plain{Dir: dir, Volumes: volumes, Container: p.options.Program, Port: l.Addr().(*net.TCPAddr).Port}, nil
}

const (
	// plainMode denies other users access: keys are among the node's files.
	plainMode = 0o700
	// maxDir bounds the length of a node's folder, because systems bound the paths of sockets and the kubelet makes
	// some there.
	maxDir = 64
)

// short returns dir, or a link to it among the temporary files if dir is too long. The link is the same for each call.
func (p *Plain) short(dir string) (string, error) {
	if len(dir) <= maxDir {
		return dir, nil
	}
	sum := sha256.Sum256([]byte(dir))
	link := filepath.Join(os.TempDir(), "slipway-"+hex.EncodeToString(sum[:6]))
	if err := os.Symlink(dir, link); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make a short path of the node's folder: %w", err)
	}
	// Other users may have made the link.
	if to, err := os.Readlink(link); err != nil || to != dir || !isOwn(link) {
		return "", fmt.Errorf("make a short path of the node's folder: %s is not slipway's (rm %s)", link, link)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links = append(p.links, link)
	return link, nil
}

// StartNode starts slipway-node as a process of this machine.
func (p *Plain) StartNode(_ context.Context, o NodeOptions) (*Node, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop || p.nodes[o.Name] != nil {
		return nil, fmt.Errorf("start node %s: it runs, or its machine has been stopped", o.Name)
	}
	n := &plainNode{Node: Node{ended: make(chan struct{})}}
	if err := n.start(o); err != nil {
		return nil, fmt.Errorf("start node %s: %w", o.Name, err)
	}
	p.nodes[o.Name] = n
	go p.await(o.Name, n)
	return &n.Node, nil
}

func (n *plainNode) start(o NodeOptions) error {
	var pipes [3][2]*os.File
	for i := range pipes {
		var err error
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			return errors.Join(err, closePairs(pipes[:i]))
		}
	}
	life, fromLog, log, presence := pipes[0][0], pipes[1][0], pipes[1][1], pipes[2][1]
	n.life, n.presence = pipes[0][1], pipes[2][0]
	n.cmd = exec.Command(o.Program, nodeconfig.PlainVerb)
	n.cmd.Dir, n.cmd.Stdout, n.cmd.Stderr = "/", log, log
	n.cmd.ExtraFiles = []*os.File{o.Talk, life, presence}
	n.cmd.SysProcAttr = newSession() // no signals of slipway's terminal
	if err := n.cmd.Start(); err != nil {
		return errors.Join(err, closePairs(pipes[:]))
	}
	for _, theirs := range []*os.File{life, presence, log} {
		_ = theirs.Close()
	}
	go copyLines(o.Log, fromLog)
	return nil
}

func closePairs(pipes [][2]*os.File) error {
	var errs []error
	for _, p := range pipes {
		errs = append(errs, p[0].Close(), p[1].Close())
	}
	return errors.Join(errs...)
}

// keepersLimit bounds the wait for killed processes: one that waits for a disk ends later.
const keepersLimit = 10 * time.Second

// await records a node's end when its last process has ended.
func (p *Plain) await(name string, n *plainNode) {
	_ = n.cmd.Wait()
	_ = n.life.Close()
	_ = n.presence.SetReadDeadline(time.Now().Add(keepersLimit))
	_, _ = io.Copy(io.Discard, n.presence) // blocks until all holders have closed it
	_ = n.presence.Close()
	p.mu.Lock()
	delete(p.nodes, name)
	p.mu.Unlock()
	n.end = end{status: n.cmd.ProcessState.String(), code: n.cmd.ProcessState.ExitCode()}
	close(n.ended)
}

// KillNode ends a node at once, if it runs, and returns when all its processes have ended. Keepers end those of its
// pods.
func (p *Plain) KillNode(ctx context.Context, name string) error {
	p.mu.Lock()
	n := p.nodes[name]
	p.mu.Unlock()
	if n == nil {
		return nil
	}
	_ = n.cmd.Process.Kill() // it may have ended already
	select {
	case <-n.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stop ends all nodes, and returns when they have ended.
func (p *Plain) Stop() {
	p.mu.Lock()
	p.stop = true
	var names []string
	for name := range p.nodes {
		names = append(names, name)
	}
	p.mu.Unlock()
	for _, name := range names {
		_ = p.KillNode(context.Background(), name) // cannot fail without a deadline
	}
	for _, link := range p.links {
		_ = os.Remove(link)
	}
}

// Ended returns nil, a channel that is never closed: this machine does not end.
func (p *Plain) Ended() <-chan struct{} { return nil }

// Await returns at once.
func (p *Plain) Await(context.Context) (ended <-chan struct{}, err error) { return nil, nil }

// Standing returns nil at once.
func (p *Plain) Standing(context.Context) error { return nil }

// Revive does nothing.
func (p *Plain) Revive() {}

// Problem returns "".
func (p *Plain) Problem() string { return "" }

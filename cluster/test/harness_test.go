package test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// programPath is the program under test.
var programPath string

func TestMain(m *testing.M) {
	if config := os.Getenv(orphanConfig); config != "" {
		beOrphaner(config)
		return
	}
	flag.Parse()
	if err := waitTogether(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(runTests(m))
}

// waitTogether has more parallel tests go on than there are processors, unless a number was asked for: they mostly wait
// for the programs.
func waitTogether() error {
	const name, together = "test.parallel", "8"
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return nil
	}
	return flag.Set(name, together)
}

func runTests(m *testing.M) int {
	if programPath = os.Getenv("SLIPWAY_CLUSTER"); programPath != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "slipway-cluster-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programPath = filepath.Join(dir, "slipway-cluster")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir, "../cmd/...")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the programs:", err)
		return 1
	}
	return m.Run()
}

// event is any line of the program; keys that an event lacks are zero.
type event struct {
	Event      string          `json:"event"`
	Protocol   int             `json:"protocol"`
	Kubernetes string          `json:"kubernetes"`
	PID        int             `json:"pid"`
	Component  string          `json:"component"`
	State      string          `json:"state"`
	Server     string          `json:"server"`
	Kubeconfig string          `json:"kubeconfig"`
	Registry   string          `json:"registry"`
	ElapsedMs  int64           `json:"elapsedMs"`
	Error      string          `json:"error"`
	Hint       string          `json:"hint"`
	Text       string          `json:"text"`
	Reason     string          `json:"reason"`
	ID         int64           `json:"id"`
	Result     json.RawMessage `json:"result"`
}

// client reads events from one connection and sends requests on it.
type client struct {
	t       testing.TB
	w       io.WriteCloser
	events  chan event
	history []event
}

func newClient(t testing.TB, r io.Reader, w io.WriteCloser) *client {
	c := &client{t: t, w: w, events: make(chan event, 100)}
	go func() {
		defer close(c.events)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			var e event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Errorf("not a line of JSON: %q", lines.Text())
			}
			c.events <- e
		}
	}()
	return c
}

// next returns the next event of the given kind, and fails the test when there is none.
func (c *client) next(kind string) event {
	c.t.Helper()
	timeout := time.After(testlimit.Hang)
	for {
		select {
		case e, ok := <-c.events:
			if !ok {
				c.t.Fatalf("no event %q; events were %+v", kind, c.history)
			}
			c.history = append(c.history, e)
			if e.Event == kind {
				return e
			}
		case <-timeout:
			c.t.Fatalf("no event %q in time; events were %+v", kind, c.history)
		}
	}
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.w, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// program is a running slipway-cluster with its life tied to ours.
type program struct {
	*client
	cmd    *exec.Cmd
	stderr *lockedBuffer
	exited chan struct{}
	config protocol.Config
}

// newConfig describes a throw-away cluster in a folder of its own. The folder's name
// is short: the path of a unix socket has about a hundred bytes.
func newConfig(t testing.TB) protocol.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "sc-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	state := filepath.Join(dir, "state")
	return protocol.Config{Protocol: protocol.Number, Name: "test", Dir: state, Socket: filepath.Join(state, "socket"), Spec: protocol.Spec{NodeKind: protocol.SimulatedNodes}}
}

// launch starts the program and does not wait for anything.
func launch(t testing.TB, config protocol.Config, how ...func(*exec.Cmd)) *program {
	t.Helper()
	cmd := exec.Command(programPath, "serve", "--stdio", "--config", writeConfig(t, config))
	for _, f := range how {
		f(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe() // unlike a StdoutPipe it may be read after Wait
	if err != nil {
		t.Fatal(err)
	}
	p := &program{cmd: cmd, stderr: &lockedBuffer{}, exited: make(chan struct{}), config: config}
	cmd.Stdout, cmd.Stderr = w, p.stderr
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	p.client = newClient(t, r, stdin)
	t.Cleanup(func() {
		_ = stdin.Close()
		p.waitExit()
		_ = r.Close()
		noPanic(t, config)
	})
	return p
}

// panicked is a line of the nodes' log about a panic that a node's program has recovered, or that has ended it.
var panicked = regexp.MustCompile(`(?m)^.*(` + regexp.QuoteMeta(nodeconfig.PanicMark) + `|\bpanic: |\bfatal error: ).*$`)

// noPanic fails a test in which a kubelet panicked. The test itself may have seen nothing of it: a node that ends is
// started again.
func noPanic(t testing.TB, config protocol.Config) {
	t.Helper()
	for _, name := range []string{"nodes.log", "nodes.log.1"} {
		log, err := os.ReadFile(filepath.Join(config.Dir, "logs", name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			t.Error(err)
		}
		for _, line := range panicked.FindAllString(string(log), -1) {
			t.Errorf("the log of the nodes has a panic: %s", line)
		}
	}
}

// start starts a cluster and returns when it is ready.
func start(t testing.TB, config protocol.Config, how ...func(*exec.Cmd)) *program {
	t.Helper()
	p := launch(t, config, how...)
	p.next("ready")
	return p
}

func writeConfig(t testing.TB, config protocol.Config) string {
	t.Helper()
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// waitExit returns the exit status.
func (p *program) waitExit() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(testlimit.Hang):
		_ = p.cmd.Process.Kill()
		p.t.Fatal("the program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop ends stdin and expects an orderly end.
func (p *program) stop() {
	p.t.Helper()
	if err := p.w.Close(); err != nil {
		p.t.Fatal(err)
	}
	if status := p.waitExit(); status != 0 {
		p.t.Fatalf("exit status %d: %s", status, p.stderr)
	}
}

// dial connects to the program's socket until the test ends.
func (p *program) dial(t testing.TB) *client {
	t.Helper()
	conn, err := net.Dial("unix", p.config.Socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return newClient(t, conn, conn)
}

// clients reach a cluster's API.
type clients struct {
	kubernetes.Interface
	extensions apiextensions.Interface
	dynamic    dynamic.Interface
	config     *rest.Config
}

func (p *program) clients() clients {
	p.t.Helper()
	return clientsOf(p.t, filepath.Join(p.config.Dir, "kubeconfig"))
}

func clientsOf(t testing.TB, kubeconfig string) clients {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return clientsFor(config)
}

// clientsFor makes clients without limits.
func clientsFor(config *rest.Config) clients {
	config.QPS, config.Burst = -1, 0
	config.WarningHandler = rest.NoWarnings{}
	return clients{
		Interface:  kubernetes.NewForConfigOrDie(config),
		extensions: apiextensions.NewForConfigOrDie(config),
		dynamic:    dynamic.NewForConfigOrDie(config),
		config:     config,
	}
}

// eventually asks until the answer is yes. An error ends the test.
func eventually(t testing.TB, what string, yes func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	for pause := firstPause; ; pause = longer(pause) {
		ok, err := yes(ctx)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if ok {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		}
	}
}

// beside is how long something may take here and now: so long as on a quiet machine, or ten times as long as other work
// that has just been measured beside it.
func beside(quiet, other time.Duration) time.Duration { return max(quiet, 10*other) }

// firstPause is between the first two questions of those that wait for an answer.
const firstPause = 5 * time.Millisecond

// longer is the next pause: each question takes processor time from what is waited for.
func longer(pause time.Duration) time.Duration { return min(2*pause, 40*time.Millisecond) }

// lockedBuffer may be read while a process writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	data []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, p...)
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.data)
}

package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/history"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// partner is the other side of a run: it writes requests, and reads events and replies.
type partner struct {
	t     testing.TB
	to    io.WriteCloser
	lines chan line
	seen  []line
}

// line is an event or a reply; what it lacks is zero.
type line struct {
	Event, Component, Error, Hint, Reason, State, Kubeconfig string
	ID                                                       int64
	Result                                                   json.RawMessage
	protocol.DoorRequest
	Fault, Type, Key string
	Revision         int64
	Created          bool
	Object           json.RawMessage
}

func newPartner(t testing.TB, from io.Reader, to io.WriteCloser) *partner {
	p := &partner{t: t, to: to, lines: make(chan line, 100)}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(from); s.Scan(); {
			var l line
			if err := json.Unmarshal(s.Bytes(), &l); err != nil {
				l.Event = "not a line of JSON: " + s.Text()
			}
			p.lines <- l
		}
	}()
	return p
}

// next is the next line of a kind.
func (p *partner) next(event string) line {
	p.t.Helper()
	limit := time.After(testlimit.Hang)
	for {
		select {
		case l, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("no %s; there were %+v", event, p.seen)
			}
			if p.seen = append(p.seen, l); l.Event == event {
				return l
			}
		case <-limit:
			p.t.Fatalf("no %s in time; there were %+v", event, p.seen)
		}
	}
}

// ask sends a request and reads its reply; into may be nil.
func (p *partner) ask(id int64, request string, into any) line {
	p.t.Helper()
	if _, err := io.WriteString(p.to, request+"\n"); err != nil {
		p.t.Fatal(err)
	}
	reply := p.next("reply")
	if reply.ID != id {
		p.t.Fatalf("%s: the reply is %+v", request, reply)
	}
	if into != nil && reply.Error == "" {
		if err := json.Unmarshal(reply.Result, into); err != nil {
			p.t.Fatal(err)
		}
	}
	return reply
}

// lockedBuffer is what several goroutines write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// ran is a run of the verb in this process.
type ran struct {
	*partner
	stderr *lockedBuffer
	status chan int
	stop   context.CancelFunc // as a signal does
}

func run(t testing.TB, config any) *ran {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.json")
	text, err := json.Marshal(config)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	requests, to := io.Pipe()
	from, events := io.Pipe()
	signals, stop := context.WithCancel(context.Background())
	r := &ran{partner: newPartner(t, from, to), stderr: &lockedBuffer{}, status: make(chan int, 1), stop: stop}
	go func() {
		r.status <- Run(signals, Options{
			ConfigFile: file, Stdio: true, Stdin: requests, Stdout: events, Stderr: r.stderr, Started: time.Now(),
			Exit: func(status int) { r.status <- status },
		})
		_ = events.Close()
	}()
	t.Cleanup(func() {
		stop()
		_ = to.Close()
		_ = from.Close()
	})
	return r
}

// ends waits for the exit status.
func (r *ran) ends(want int) {
	r.t.Helper()
	select {
	case got := <-r.status:
		if got != want {
			r.t.Errorf("exit status %d, want %d; %s", got, want, r.stderr)
		}
	case <-time.After(testlimit.Hang):
		r.t.Fatal("it does not end")
	}
}

// stateFolder has a short name: the path of a socket has about a hundred bytes.
func stateFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sv-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "state")
}

func configIn(dir string) protocol.Config {
	return protocol.Config{Protocol: protocol.Number, Name: "test", Dir: dir, Socket: filepath.Join(dir, "socket")}
}

// TestLife follows a cluster from its start to its end by the requests of its partners.
func TestLife(t *testing.T) {
	dir := stateFolder(t)
	config := configIn(dir)
	config.RecordBytes = history.MinSize
	r := run(t, config)
	if first := r.next("hello"); len(r.seen) != 1 {
		t.Errorf("before %+v came %+v", first, r.seen)
	}
	r.next("progress")
	// While it starts there is nothing to change, and it says so.
	for id, request := range map[int64]string{
		1: `{"id":1,"method":"reset"}`, 2: `{"id":2,"method":"keep"}`, 3: `{"id":3,"method":"addLogical","params":{"name":"early"}}`,
		4: `{"id":4,"method":"removeLogical","params":{"name":"early"}}`, 5: `{"id":5,"method":"stopNode","params":{"name":"simulated-1"}}`,
	} {
		if reply := r.ask(id, request, nil); reply.Error != errNotReady.Error() {
			t.Errorf("%s while it starts: %+v", request, reply)
		}
	}
	var s protocol.Status
	if r.ask(6, `{"id":6,"method":"status"}`, &s); s.Ready || len(s.Components) == 0 {
		t.Errorf("status while it starts: %+v", s)
	}
	ready := r.next("ready")
	if r.ask(7, `{"id":7,"method":"status"}`, &s); !s.Ready || s.Kubeconfig != ready.Kubeconfig || s.Registry == "" {
		t.Errorf("status: %+v", s)
	}
	for _, c := range s.Components {
		if c.State != protocol.StateReady || c.Message == "" && c.Name != protocol.Scheduler {
			t.Errorf("%+v", c)
		}
	}
	t.Run("requests", func(t *testing.T) { requests(t, r.partner, ready.Kubeconfig) })
	t.Run("what is tied to a connection goes with it", func(t *testing.T) { tied(t, r.partner, filepath.Join(dir, "socket")) })
	t.Run("a second cluster in the folder", func(t *testing.T) {
		second := run(t, configIn(dir))
		if f := second.next("failed"); f.Component != protocol.Configuration || !strings.Contains(f.Error, dir) || f.Hint == "" {
			t.Errorf("%+v", f)
		}
		second.ends(statusFailed)
	})
	if reply := r.ask(99, `{"id":99,"method":"stop"}`, nil); reply.Error != "" {
		t.Errorf("stop: %+v", reply)
	}
	if stopped := r.next("stopped"); stopped.Reason != string(protocol.ByRequest) {
		t.Errorf("%+v", stopped)
	}
	r.ends(statusOK)
	if _, err := os.Stat(filepath.Join(dir, "socket")); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

// requests are those that a cluster that is ready answers.
func requests(t *testing.T, p *partner, kubeconfig string) {
	for _, tt := range []struct{ request, want string }{
		{`{"id":10,"method":"dance"}`, `unknown method "dance"`},
		{`{"id":10,"method":"reset","params":{"logical":"none"}}`, "no such logical cluster"},
		{`{"id":10,"method":"keep","params":{"logical":"none"}}`, "no such logical cluster"},
		{`{"id":10,"method":"reset","params":{"logicl":"typo"}}`, "logicl"},
		{`{"id":10,"method":"removeLogical","params":{"name":"none"}}`, "no such logical cluster"},
		{`{"id":10,"method":"addLogical","params":{"name":"A_B"}}`, "DNS label"},
		{`{"id":10,"method":"addLogical","params":{"name":"a","nodes":[{"name":"n","taints":["nonsense"]}]}}`, "node n"},
		{`{"id":10,"method":"stopNode","params":{"name":"none"}}`, "the nodes are simulated-1"},
		{`{"id":10,"method":"startNode","params":{"name":"simulated-1","logical":"none"}}`, "no such logical cluster"},
		{`{"id":10`, "invalid request"},
	} {
		id := int64(10)
		if !strings.HasSuffix(tt.request, "}") {
			id = 0 // it cannot be read
		}
		if reply := p.ask(id, tt.request, nil); !strings.Contains(reply.Error, tt.want) {
			t.Errorf("%s: %q, want %q", tt.request, reply.Error, tt.want)
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	make := func(name string) {
		if _, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	make("goes")
	var done protocol.ResetDone
	if reply := p.ask(11, `{"id":11,"method":"reset"}`, &done); reply.Error != "" || done.Removed < 1 || done.Kept || done.TookMs <= 0 {
		t.Errorf("reset: %+v, %+v", reply, done)
	}
	make("stays")
	var kept protocol.KeepDone
	if reply := p.ask(12, `{"id":12,"method":"keep"}`, &kept); reply.Error != "" || kept.Objects == 0 {
		t.Errorf("keep: %+v, %+v", reply, kept)
	}
	if reply := p.ask(13, `{"id":13,"method":"reset"}`, &done); reply.Error != "" || !done.Kept {
		t.Errorf("reset to what was kept: %+v, %+v", reply, done)
	}
	if list, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 2 { // with the root certificate
		t.Errorf("%d are there, %v", len(list.Items), err)
	}
	for _, request := range []string{`{"id":14,"method":"stopNode","params":{"name":"simulated-1"}}`, `{"id":14,"method":"startNode","params":{"name":"simulated-1"}}`} {
		if reply := p.ask(14, request, nil); reply.Error != "" {
			t.Errorf("%s: %s", request, reply.Error)
		}
	}
}

// tied adds a logical cluster by a connection that then ends.
func tied(t *testing.T, p *partner, socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other := newPartner(t, conn, conn)
	other.next("ready") // who comes late hears everything
	var added protocol.LogicalAdded
	if reply := other.ask(20, `{"id":20,"method":"addLogical","params":{"name":"mine","controllers":false,"tied":true}}`, &added); reply.Error != "" || added.Kubeconfig == "" {
		t.Fatalf("%+v, %+v", reply, added)
	}
	if reply := p.ask(21, `{"id":21,"method":"stopNode","params":{"name":"a","logical":"mine"}}`, nil); !strings.Contains(reply.Error, "no nodes") {
		t.Errorf("nodes of a cluster without controllers: %+v", reply)
	}
	var s protocol.Status
	if p.ask(22, `{"id":22,"method":"status"}`, &s); len(s.Logical) != 1 || s.Logical[0].Name != "mine" || s.Logical[0].Server == s.Server {
		t.Errorf("status: %+v", s.Logical)
	}
	if reply := p.ask(23, `{"id":23,"method":"record","params":{"logical":"mine"}}`, nil); !strings.Contains(reply.Error, "no record") {
		t.Errorf("the record of a tied cluster: %+v", reply)
	}
	if s.Record == nil || s.Record.Last == 0 || s.Record.Problem != "" {
		t.Errorf("the record of the main cluster: %+v", s.Record)
	}
	// Its name may be another's when the connection ends.
	for _, request := range []string{
		`{"id":23,"method":"removeLogical","params":{"name":"mine"}}`, `{"id":23,"method":"addLogical","params":{"name":"mine","controllers":false}}`,
	} {
		if reply := p.ask(23, request, nil); reply.Error != "" {
			t.Fatalf("%+v", reply)
		}
	}
	var page protocol.RecordPage
	for reply := p.ask(23, `{"id":23,"method":"record","params":{"logical":"mine"}}`, &page); len(page.Entries) == 0; reply = p.ask(23, `{"id":23,"method":"record","params":{"logical":"mine"}}`, &page) {
		if reply.Error != "" && !strings.Contains(reply.Error, "being opened") {
			t.Fatalf("the record of a logical cluster: %+v", reply)
		}
	}
	if reply := other.ask(24, `{"id":24,"method":"addLogical","params":{"name":"last","controllers":false,"tied":true}}`, nil); reply.Error != "" {
		t.Fatalf("%+v", reply)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	limit := time.After(testlimit.Hang)
	has := func(name string) bool {
		return slices.ContainsFunc(s.Logical, func(l protocol.LogicalCluster) bool { return l.Name == name })
	}
	for s.Logical = []protocol.LogicalCluster{{Name: "last"}}; has("last"); {
		select {
		case <-limit:
			t.Fatal("it is still there")
		default:
		}
		s = protocol.Status{}
		p.ask(25, `{"id":25,"method":"status"}`, &s)
	}
	if !has("mine") {
		t.Error("a cluster that is not tied has gone, because a former one of its name was")
	}
}

// child is a folder in the environment of a process that runs one test of these for another.
const child = "SLIPWAY_TEST_CHILD"

// TestStopDuringStart: the end of stdin ends a cluster that is starting, and is told as the reason. It has a process of
// its own, for what has started of an API server ends with the process.
func TestStopDuringStart(t *testing.T) {
	dir := os.Getenv(child)
	if dir == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestStopDuringStart$", "-test.count=1")
		again.Env = append(os.Environ(), child+"="+stateFolder(t))
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r := run(t, configIn(dir))
	r.next("progress")
	if err := r.to.Close(); err != nil {
		t.Fatal(err)
	}
	if stopped := r.next("stopped"); stopped.Reason != string(protocol.ByStdin) {
		t.Errorf("%+v", stopped)
	}
	r.ends(statusOK)
	for _, l := range r.seen {
		if l.Event == "ready" || l.Event == "failed" {
			t.Errorf("%+v", l)
		}
	}
}

// TestRunFails: what is wrong with the configuration or its folder is told to the partner with a hint, and to people.
func TestRunFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := configIn(stateFolder(t))
	long.Socket = "/" + strings.Repeat("s", 199)
	flags := configIn(stateFolder(t))
	flags.APIServerFlags = []string{"--no-such-flag"}
	for name, tt := range map[string]struct {
		config                 any
		component, error, hint string
	}{
		"no object":                       {"text", protocol.Configuration, "invalid configuration", "see docs/inside/protocol.md"},
		"another protocol":                {protocol.Config{Protocol: -1}, protocol.Configuration, "protocol -1", "see docs/inside/protocol.md"},
		"a socket whose name is too long": {long, protocol.Configuration, "200 bytes", "see docs/inside/protocol.md"},
		"a folder that is a file":         {configIn(file), protocol.Configuration, "state folder", ""},
		"a folder below a file":           {configIn(filepath.Join(file, "state")), protocol.Configuration, "state folder", ""},
		"a flag that is none":             {flags, protocol.APIServer, "no-such-flag", "see the flags of kube-apiserver"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, tt.config)
			r.next("hello")
			f := r.next("failed")
			if f.Component != tt.component || !strings.Contains(f.Error, tt.error) || !strings.Contains(f.Hint, tt.hint) || (f.Hint == "") != (tt.hint == "") {
				t.Errorf("%+v", f)
			}
			r.ends(statusFailed)
			if text := r.stderr.String(); !strings.Contains(text, f.Component+": "+f.Error) || !strings.Contains(text, f.Hint) {
				t.Errorf("people read %q", text)
			}
		})
	}
	if _, err := readConfig(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, protocol.ErrConfig) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

package machine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// bePlainNode is the test's own program in place of a slipway-node that has no namespaces: it says what it was told,
// and lives until it is to end.
func bePlainNode() {
	text, err := io.ReadAll(os.NewFile(nodeconfig.FileConfig, "configuration"))
	fmt.Println("told", string(text), err)
	_, _ = io.Copy(io.Discard, os.NewFile(nodeconfig.FileLife, "life"))
	os.Exit(3)
}

// said is what nodes have said, in whole lines.
type said struct {
	mu   sync.Mutex
	b    bytes.Buffer
	came chan struct{}
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		select {
		case s.came <- struct{}{}:
		default:
		}
	}()
	return s.b.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func plainNode(t *testing.T, name string) (machine.NodeOptions, *said) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &said{came: make(chan struct{}, 1)}
	return machine.NodeOptions{Name: name, Program: program, Log: s, Talk: talk(t, "to be "+name)}, s
}

// talk is a node's end of a connection that has said something.
func talk(t *testing.T, text string) *os.File {
	t.Helper()
	ours, theirs, err := machine.Talk()
	if err == nil {
		_, err = io.WriteString(ours, text)
	}
	if err == nil {
		err = ours.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	return theirs
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(testlimit.Hang):
		t.Fatalf("%s: it takes too long", what)
	}
}

// TestPlainNodes: a node is a process of this machine, of which there is one by its name; it ends when it is killed,
// and all do with their machine.
func TestPlainNodes(t *testing.T) {
	p := machine.StartPlain(machine.Options{State: t.TempDir()}, nil)
	o, s := plainNode(t, "a")
	a, err := p.StartNode(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "it says what it was told", s.came)
	if got := s.String(); got != "told to be a <nil>\n" {
		t.Errorf("it says %q", got)
	}
	if _, err := p.StartNode(t.Context(), o); err == nil || !strings.Contains(err.Error(), "start node a") {
		t.Errorf("a second one of the name: %v", err)
	}
	if err := p.KillNode(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	await(t, "a killed node", a.Ended())
	if got := a.Status(); !strings.Contains(got, "killed") {
		t.Errorf("it ended: %s", got)
	}
	if err := p.KillNode(t.Context(), "a"); err != nil {
		t.Errorf("one that has ended: %v", err)
	}
	if a, err = p.StartNode(t.Context(), o); err != nil {
		t.Fatalf("once more: %v", err)
	}
	p.Stop()
	await(t, "a node whose machine has stopped", a.Ended())
	if _, err := p.StartNode(t.Context(), o); err == nil {
		t.Error("a machine that has stopped starts nodes")
	}
	o.Program = filepath.Join(t.TempDir(), "absent")
	if _, err := machine.StartPlain(machine.Options{}, nil).StartNode(t.Context(), o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its program: %v", err)
	}
}

// TestPlaces: a node has a folder for itself alone, by a path that sockets can have, which nobody else can have made.
func TestPlaces(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	state := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	p := machine.StartPlain(machine.Options{State: state, Program: "/container"}, nil)
	place, err := p.Place("a")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(state, "a")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v", info, err)
	}
	if to, err := os.Readlink(place.Dir); err != nil || to != filepath.Join(state, "a") {
		t.Errorf("%s leads to %s, %v", place.Dir, to, err)
	}
	if place.Container != "/container" || place.Port == 0 {
		t.Errorf("%+v", place)
	}
	if again, err := p.Place("a"); err != nil || again.Dir != place.Dir {
		t.Errorf("another time it is %+v, %v", again, err)
	}
	p.Stop()
	if _, err := os.Lstat(place.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the link is left: %v", err)
	}
	if err := os.Symlink("/etc", place.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Place("a"); err == nil || !strings.Contains(err.Error(), place.Dir) {
		t.Errorf("where somebody else has made the link: %v", err)
	}
	if os.Getuid() == 0 {
		if err := errors.Join(os.Remove(place.Dir), os.Symlink(filepath.Join(state, "a"), place.Dir), os.Lchown(place.Dir, 1, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Place("a"); err == nil {
			t.Error("a link of another user's is used")
		}
	}
	if err := os.Remove(place.Dir); err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("/tmp", "m-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(short)
	if place, err := machine.StartPlain(machine.Options{State: short}, nil).Place("a"); err != nil || place.Dir != filepath.Join(short, "a") {
		t.Errorf("a short path: %+v, %v", place, err)
	}
}

// TestPlainNetwork is that of this machine, in which a node's address stands for the loopback.
func TestPlainNetwork(t *testing.T) {
	p := machine.StartPlain(machine.Options{}, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "10.127.0.5", "localhost"} {
		conn, err := p.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		_ = conn.Close()
	}
	if _, err := p.Listen(t.Context(), "10.0.0.1:80"); err == nil {
		t.Error("it listens in a network that it has not")
	}
	if _, err := p.ListenPacket(t.Context(), "10.0.0.1:53"); err == nil {
		t.Error("it listens in a network that it has not")
	}
	if p.IDs() || p.OwnNetwork() || p.Limits() || p.Unlimited() == "" || p.Ended() != nil {
		t.Error("it is more than this machine as it is")
	}
}

// TestNotice: users hear what plain processes lack, and where they asked for better ones why these are not, with what
// allows them.
func TestNotice(t *testing.T) {
	asked := machine.StartPlain(machine.Options{}, nil).Notice()
	why := &machine.Forbidden{Fix: "sudo allow", Err: errors.New("a switch is off")}
	forbidden := machine.StartPlain(machine.Options{}, why).Notice()
	for text, parts := range map[string][]string{
		asked: {"not isolated", "--platform"}, forbidden: {"not isolated", "because a switch is off", "to allow isolated nodes: sudo allow"},
	} {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q lacks %q", text, part)
			}
		}
	}
	if strings.Contains(asked, "because") || strings.HasSuffix(asked, "\n") {
		t.Errorf("%q", asked)
	}
	if !errors.Is(why, machine.ErrForbidden) || !strings.Contains(why.Error(), "`sudo allow` allows them") {
		t.Errorf("%v", why)
	}
	if err := (&machine.Forbidden{Err: errors.New("so")}); strings.Contains(err.Error(), "allows") {
		t.Errorf("without a way out: %v", err)
	}
}

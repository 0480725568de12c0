//go:build unix

package clusterctl_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// peerMode makes this test binary a slipway-cluster program that speaks the
// protocol and has the fault that the variable's value names. Faults of the real
// program is not available at will.
const peerMode = "SLIPWAY_TEST_PEER"

// peerKubernetes is the version that the peer tells.
const peerKubernetes = "SLIPWAY_TEST_PEER_KUBERNETES"

// The faults.
const (
	sound    = "sound"    // none
	crash    = "crash"    // ends at once
	late     = "late"     // ends after its first words
	refuse   = "refuse"   // tells that it failed
	hang     = "hang"     // is never ready, and ignores SIGTERM
	foreign  = "foreign"  // its socket uses another protocol
	outdated = "outdated" // its version command tells another protocol
	babble   = "babble"   // speaks no protocol at all
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(peerMode); mode != "" && len(os.Args) > 1 {
		os.Exit(peer{mode: mode}.main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

type peer struct {
	mode   string
	config protocol.Config
}

func (p peer) main(args []string) int {
	if args[0] == "version" {
		number := protocol.Number
		if p.mode == outdated {
			number = 99
		}
		fmt.Printf(`{"protocol":%d,"version":"v9","kubernetes":%q}`, number, cmp.Or(os.Getenv(peerKubernetes), "1.37.1"))
		return 0
	}
	if p.mode == crash {
		fmt.Fprintln(os.Stderr, "cannot find the sea")
		return 3
	}
	if err := p.serve(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// serve follows `serve --config FILE [--stdio]`.
func (p peer) serve(args []string) error {
	text, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &p.config); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(p.config.Dir, "lock"))
	if ok, err := lock.TryLock(); err != nil {
		return fmt.Errorf("lock: %w", err)
	} else if !ok {
		return errors.New("another process holds the lock")
	}
	defer lock.Close() // and not before: a lock that nobody refers to is closed
	if p.mode == hang {
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Fprintln(os.Stderr, "afloat")
	if len(args) > 3 {
		p.speak(os.Stdin, os.Stdout)
		return nil
	}
	return p.listen()
}

// listen serves the socket until a client requests the end.
func (p peer) listen() error {
	l, err := net.Listen("unix", p.config.Socket)
	if err != nil {
		return err
	}
	defer l.Close()
	ended := make(chan struct{})
	for {
		conn, err := l.Accept()
		if err != nil {
			return nil
		}
		go func() {
			defer conn.Close()
			if p.speak(conn, conn) {
				close(ended)
				l.Close()
			}
		}()
	}
}

func (p peer) kubeconfig() string { return filepath.Join(p.config.Dir, "kubeconfig") }

// speak tells the events and answers requests; it returns whether to stop.
func (p peer) speak(r io.Reader, w io.Writer) bool {
	say := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	number := protocol.Number
	switch p.mode {
	case foreign:
		number = 99
	case babble:
		say("Hello, sailor!")
	}
	say(`{"event":"hello","protocol":%d,"version":"v9","kubernetes":"1.37.1","pid":%d}`, number, os.Getpid())
	say(`{"event":"weather","wind":7}`)
	say(`{"event":"progress","component":"etcd","state":"starting","elapsedMs":1}`)
	switch p.mode {
	case late:
		fmt.Fprintln(os.Stderr, "struck a rock")
		os.Exit(4)
	case refuse:
		say(`{"event":"failed","component":"etcd","error":"no water","hint":"fill the dock"}`)
		os.Exit(1)
	case hang:
		select {}
	}
	if err := os.WriteFile(p.kubeconfig(), []byte(peerKubeconfig), 0o600); err != nil {
		panic(err)
	}
	say(`{"event":"progress","component":"etcd","state":"ready","elapsedMs":20}`)
	say(`{"event":"ready","server":"https://127.0.0.1:1","kubeconfig":%q,"elapsedMs":30}`, p.kubeconfig())
	return p.answer(r, say)
}

// answer serves requests until the client goes or requests the end.
func (p peer) answer(r io.Reader, say func(string, ...any)) (stop bool) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var request struct {
			ID     int
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil {
			continue
		}
		switch request.Method {
		case "status":
			say(`{"event":"reply","id":%d,"result":{"ready":true,"server":"https://127.0.0.1:1","registry":"127.0.0.1:2","kubeconfig":%q,"kubernetes":"1.37.1","pid":%d,"uptimeMs":5,"components":[{"name":"etcd","state":"ready"}]}}`,
				request.ID, p.kubeconfig(), os.Getpid())
		case "stop":
			say(`{"event":"reply","id":%d,"result":{}}`, request.ID)
			// Replies may overtake the story of the start.
			say(`{"event":"progress","component":"etcd","state":"ready","elapsedMs":20}`)
			say(`{"event":"progress","component":"etcd","state":"stopping","elapsedMs":40}`)
			say(`{"event":"stopped","reason":"request"}`)
			return true
		case "stopNode":
			say(`{"event":"reply","id":%d,"error":"no node %s; nodes are a, b"}`, request.ID, request.Params.Name)
		default:
			say(`{"event":"reply","id":%d,"error":"unknown method \"%s\""}`, request.ID, request.Method)
		}
	}
	return false
}

const peerKubeconfig = `apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {server: "https://127.0.0.1:1", certificate-authority-data: Y2E=}
users:
- name: u
  user: {token: t}
contexts:
- name: x
  context: {cluster: c, user: u}
current-context: x
`

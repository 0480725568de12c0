package containerinit

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// asking is the other side of requests.
type asking struct {
	t    *testing.T
	conn int
}

// ask returns requests that are answered until the other side hangs up, and that side; ended gives what became of them.
func ask(t *testing.T, answer func(q *requests, r wire.Request, files []int)) (a asking, ended chan error) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	q := newRequests(pair[1])
	ended = make(chan error, 1)
	go func() {
		err := q.each(func(r wire.Request, files []int) { answer(q, r, files) })
		_ = unix.Close(pair[1])
		ended <- err
	}()
	return asking{t, pair[0]}, ended
}

func (a asking) send(text string, files ...int) {
	a.t.Helper()
	var control []byte
	if len(files) > 0 {
		control = unix.UnixRights(files...)
	}
	if err := unix.Sendmsg(a.conn, []byte(text), control, nil, 0); err != nil {
		a.t.Fatal(err)
	}
}

// reply is the next one, with the files that came with it.
func (a asking) reply() (r wire.Reply, files []int) {
	a.t.Helper()
	text, control := make([]byte, maxRequest), make([]byte, unix.CmsgSpace(4*maxFiles))
	n, rest, _, _, err := unix.Recvmsg(a.conn, text, control, unix.MSG_CMSG_CLOEXEC)
	if err == nil {
		err = json.Unmarshal(text[:n], &r)
	}
	if err == nil {
		files, err = received(control[:rest])
	}
	if err != nil {
		a.t.Fatalf("%q: %v", text[:n], err)
	}
	return r, files
}

func (a asking) hangUp() { _ = unix.Close(a.conn) }

// open says whether a file is.
func open(fd int) bool { return unix.Fstat(fd, &unix.Stat_t{}) == nil }

// TestRequestsAreAnsweredInTurn, each under its number and with its files, which are closed then.
func TestRequestsAreAnsweredInTurn(t *testing.T) {
	var came []int
	a, ended := ask(t, func(q *requests, r wire.Request, files []int) {
		came = append(came, files...)
		switch r.Kill {
		case "refuse":
			q.refuse(r, fmt.Errorf("kill: %w", unix.EPERM))
		case "explain":
			q.refuse(r, errors.New("no"))
		default:
			q.send(wire.Reply{ID: r.ID, Status: fmt.Sprint(r.Kill, " with ", len(files))}, files...)
		}
	})
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	a.send(`{"ID":1,"Kill":"a"}`, int(null.Fd()), int(null.Fd()))
	a.send(`{"ID":2,"Kill":"refuse"}`)
	a.send(`{"ID":3,"Kill":"explain"}`)
	for _, want := range []struct {
		wire.Reply
		files int
	}{{wire.Reply{ID: 1, Status: "a with 2"}, 2}, {wire.Reply{ID: 2, Error: "kill: operation not permitted", Errno: int(unix.EPERM)}, 0}, {wire.Reply{ID: 3, Error: "no"}, 0}} {
		got, files := a.reply()
		if got != want.Reply || len(files) != want.files {
			t.Errorf("%+v with %d files, want %+v with %d", got, len(files), want.Reply, want.files)
		}
		closeAll(files)
	}
	a.hangUp()
	if err := <-ended; err != nil {
		t.Errorf("they end with %v", err)
	}
	if len(came) != 2 || slices.ContainsFunc(came, open) {
		t.Errorf("the files %v are still open", came)
	}
}

// TestRequestsThatAreNone end the conversation: what sends them is not what it should be.
func TestRequestsThatAreNone(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	many := slices.Repeat([]int{int(null.Fd())}, maxFiles+1)
	for name, tt := range map[string]struct {
		text  string
		files []int
		is    error
	}{
		"too long":       {`{"Kill":"` + strings.Repeat("a", maxRequest) + `"}`, nil, errTooMuch},
		"too many files": {`{}`, many, errTooMuch},
		"no JSON":        {`{`, nil, nil},
	} {
		a, ended := ask(t, func(*requests, wire.Request, []int) { t.Errorf("%s: it is answered", name) })
		a.send(tt.text, tt.files...)
		if err := <-ended; err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v", name, err)
		}
		a.hangUp()
	}
}

// TestSockets: the machine makes sockets that listen and connect, and says with the kernel's number why it does not.
func TestSockets(t *testing.T) {
	h := &machineServer{nodes: map[string]*os.Process{}}
	a, ended := ask(t, func(q *requests, r wire.Request, files []int) {
		h.requests = q
		h.answer(r, files)
	})
	a.send(`{"ID":1,"Socket":{"Network":"tcp4","Address":"127.0.0.1:0","Listen":true}}`)
	_, files := a.reply()
	if len(files) != 1 {
		t.Fatalf("%d sockets", len(files))
	}
	f := os.NewFile(uintptr(files[0]), "listener")
	l, err := net.FileListener(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i, tt := range []struct {
		request string
		errno   unix.Errno
		error   string
	}{
		{fmt.Sprintf(`{"ID":9,"Socket":{"Network":"tcp4","Address":%q}}`, l.Addr()), 0, ""},
		{fmt.Sprintf(`{"ID":9,"Socket":{"Network":"tcp4","Address":%q,"Listen":true}}`, l.Addr()), unix.EADDRINUSE, "address already in use"},
		{`{"ID":9,"Socket":{"Network":"udp4","Address":"192.0.2.1:53","Listen":true}}`, 0, ""}, // of an address that is yet to come
		{`{"ID":9,"Socket":{"Network":"udp4","Address":"127.0.0.1:9"}}`, 0, ""},
		{`{"ID":9,"Socket":{"Network":"tcp4","Address":"localhost:80"}}`, 0, "not an IPv4 address"},
		{`{"ID":9,"Socket":{"Network":"tcp4","Address":"[::1]:80"}}`, 0, "not an IPv4 address"},
		{`{"ID":9,"Start":{"Name":"a"}}`, 0, "0 files in place of 4"},
		{`{"ID":9,"Kill":"nobody"}`, 0, ""},
		{`{"ID":9}`, 0, "the request names no operation"},
	} {
		a.send(tt.request)
		r, files := a.reply()
		if r.ID != 9 || r.Errno != int(tt.errno) || !strings.Contains(r.Error, tt.error) || (r.Error == "") != (tt.error == "") {
			t.Errorf("%d: %s: %+v", i, tt.request, r)
		}
		closeAll(files)
	}
	a.hangUp()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestSpawnerStartsProcessesAlone and wants what belongs to one.
func TestSpawnerStartsProcessesAlone(t *testing.T) {
	s := &spawner{network: -1}
	a, ended := ask(t, func(q *requests, r wire.Request, files []int) {
		s.requests = q
		s.answer(r, files)
	})
	for request, want := range map[string]string{`{"ID":1,"Kill":"a"}`: "only processes", `{"ID":1,"Spawn":{"Network":true}}`: "network is missing"} {
		a.send(request)
		if r, _ := a.reply(); r.ID != 1 || !strings.Contains(r.Error, want) {
			t.Errorf("%s: %+v", request, r)
		}
	}
	a.hangUp()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestIDsOfAProcess: with many ids all are as in the node, root's apart; the one of a node that has no more is seen as
// what the container wants, and hands its rights on.
func TestIDsOfAProcess(t *testing.T) {
	many := attributes(wire.Spawn{IDs: true, UID: 5, GID: 6})
	if len(many.UidMappings) != 2 || many.UidMappings[0].Size != 1 || many.UidMappings[1].Size != idRange-1 || !slices.Equal(many.UidMappings, many.GidMappings) {
		t.Errorf("many: %+v, %+v", many.UidMappings, many.GidMappings)
	}
	if len(many.AmbientCaps) != 0 || !many.GidMappingsEnableSetgroups {
		t.Errorf("many: rights %v, groups %v", many.AmbientCaps, many.GidMappingsEnableSetgroups)
	}
	one := attributes(wire.Spawn{UID: 5, GID: 6})
	if len(one.UidMappings) != 1 || one.UidMappings[0].ContainerID != 5 || one.GidMappings[0].ContainerID != 6 || one.UidMappings[0].Size != 1 {
		t.Errorf("one: %+v, %+v", one.UidMappings, one.GidMappings)
	}
	if len(one.AmbientCaps) != unix.CAP_LAST_CAP+1 || one.GidMappingsEnableSetgroups {
		t.Errorf("one: rights %v, groups %v", one.AmbientCaps, one.GidMappingsEnableSetgroups)
	}
	for name, a := range map[string]uintptr{"many": many.Cloneflags, "one": one.Cloneflags} {
		if a&unix.CLONE_NEWUSER == 0 || a&unix.CLONE_NEWPID == 0 || a&unix.CLONE_NEWNS == 0 || a&unix.CLONE_NEWNET != 0 {
			t.Errorf("%s: namespaces %x", name, a)
		}
	}
}

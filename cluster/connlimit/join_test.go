package connlimit_test

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// connected returns both ends of a connection.
func connected(t *testing.T) (here, there *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), other.Close() })
	return conn.(*net.TCPConn), other.(*net.TCPConn)
}

// joined is a client and a server whose connections are joined until ended is closed, and by latest with stop.
func joined(t *testing.T) (client, server *net.TCPConn, stop func(), ended <-chan struct{}) {
	t.Helper()
	client, one := connected(t)
	other, server := connected(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		connlimit.Join(ctx, one, other)
		_, _ = one.Close(), other.Close()
	}()
	t.Cleanup(func() { stop(); <-done })
	return client, server, stop, done
}

// TestJoinPassesEndsOn: the end of one direction is passed on, and the other direction goes on.
func TestJoinPassesEndsOn(t *testing.T) {
	client, server, _, ended := joined(t)
	if _, err := client.Write([]byte("question")); err != nil {
		t.Fatal(err)
	}
	_ = client.CloseWrite()
	if got, err := io.ReadAll(server); err != nil || string(got) != "question" {
		t.Errorf("the server reads %q (%v)", got, err)
	}
	if _, err := server.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
	if got, err := io.ReadAll(client); err != nil || string(got) != "answer" {
		t.Errorf("the client reads %q (%v)", got, err)
	}
	<-ended
}

// TestJoinPassesResetsOn: a connection that breaks off on one side breaks off on the other. What ended there would be
// taken for all of a download.
func TestJoinPassesResetsOn(t *testing.T) {
	for name, breakOff := range map[string]func(server *net.TCPConn, stop func()){
		"server": func(server *net.TCPConn, _ func()) { connlimit.Reset(server) },
		"stop":   func(_ *net.TCPConn, stop func()) { stop() },
	} {
		t.Run(name, func(t *testing.T) {
			client, server, stop, ended := joined(t)
			if _, err := server.Write([]byte("half")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(client, make([]byte, len("half"))); err != nil {
				t.Fatal(err)
			}
			breakOff(server, stop)
			if n, err := client.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the client reads %d bytes (%v)", n, err)
			}
			<-ended
		})
	}
}

// TestJoinNoticesTheGone: a client that ended its direction and is gone later ends the connection to a server that has
// nothing to send. It stays there while it is only silent.
func TestJoinNoticesTheGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only connections on Linux are watched")
	}
	for name, sides := range map[string]func(client, server *net.TCPConn) (ends, stays *net.TCPConn){
		"client": func(client, server *net.TCPConn) (*net.TCPConn, *net.TCPConn) { return client, server },
		"server": func(client, server *net.TCPConn) (*net.TCPConn, *net.TCPConn) { return server, client },
	} {
		t.Run(name, func(t *testing.T) {
			client, server, _, ended := joined(t)
			ends, stays := sides(client, server)
			_ = ends.CloseWrite()
			if _, err := io.ReadAll(stays); err != nil {
				t.Fatal(err)
			}
			if _, err := stays.Write([]byte("late")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(ends, make([]byte, len("late"))); err != nil {
				t.Fatalf("the answer to a silent client: %v", err)
			}
			connlimit.Reset(ends)
			<-ended
		})
	}
}

package fdpass_test

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
)

// pair is a client and a server that makes connections for it, by these ways.
func pair(t *testing.T, ways fdpass.Ways) (client *fdpass.Client, hangUp context.CancelFunc) {
	t.Helper()
	sockets, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		fdpass.Serve(ctx, sockets[1], fdpass.Host{Ways: ways})
	}()
	client = fdpass.NewClient(sockets[0], nil)
	t.Cleanup(func() {
		client.Close()
		<-served // it ends with the client
		cancel()
	})
	return client, cancel
}

func TestConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	client, _ := pair(t, fdpass.Ways{Own: []string{address}})
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	for range 50 {
		conn, err := client.DialContext(ctx, "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 5)
		if _, err := io.ReadFull(conn, buffer); err != nil || string(buffer) != "hello" {
			t.Fatalf("%q, %v", buffer, err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_ = listener.Close()
	if _, err := client.DialContext(ctx, "tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("where nobody listens: %v", err)
	}
}

func TestOtherSideEnds(t *testing.T) {
	client, hangUp := pair(t, fdpass.Ways{})
	hangUp()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	for { // requests may be answered until it has
		_, err := client.DialContext(ctx, "tcp", "127.0.0.1:1")
		if errors.Is(err, fdpass.ErrGone) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the other side has ended: %v", err)
		}
	}
}

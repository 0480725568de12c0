package connlimit

import (
	"net"
	"testing"
)

// TestHangUp: with the listener all that have called are closed, and who calls then too.
func TestHangUp(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := HangUp(inner)
	call := func() (theirs, ours net.Conn) {
		t.Helper()
		theirs, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if ours, err = l.Accept(); err != nil {
			t.Fatal(err)
		}
		return theirs, ours
	}
	goes, ended := call()
	defer goes.Close()
	stays, _ := call()
	defer stays.Close()
	if err := ended.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(l.(*hangUp).conns); n != 1 {
		t.Errorf("%d calls go on, want 1", n)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := stays.Read(make([]byte, 1)); err == nil {
		t.Error("a call goes on after the listener was closed")
	}
	if _, err := l.Accept(); err == nil {
		t.Error("a closed listener takes calls")
	}
}

package prove

import (
	"bufio"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/protocol"
)

// TestLabEnds: what the cluster's program notes of its store is why changes are not followed any more. Its record is no
// concern of a proof.
func TestLabEnds(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		requests := bufio.NewScanner(conn)
		for _, answer := range []string{
			`{"event":"note","component":"record","text":"the disk is full"}` + "\n" + `{"event":"reply","id":1,"result":{}}`,
			`{"event":"note","component":"etcd","text":"too far behind"}`,
		} {
			if requests.Scan() {
				_, _ = conn.Write([]byte(answer + "\n")) // the test ends without
			}
		}
		requests.Scan() // until the lab is gone
	}()
	l, err := dialLab(t.Context(), socket, "", func(protocol.Report) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.keep(t.Context()); err != nil {
		t.Error(err)
	}
	if err := l.keep(t.Context()); err == nil || !strings.Contains(err.Error(), "too far behind") {
		t.Error(err)
	}
	_ = l.close() // it is closed
}

package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const lines = `{"auditID":"1","stage":"RequestReceived","requestURI":"/a","verb":"get","user":{"username":"u"},"objectRef":{"resource":"pods","namespace":"n","name":"p"},"requestReceivedTimestamp":"2026-01-01T00:00:01.000001Z"}
{"auditID":"2","stage":"RequestReceived","verb":"list","user":{"username":"other"},"requestReceivedTimestamp":"2026-01-01T00:00:01Z"}
{"auditID":"3","stage":"ResponseComplete","verb":"create","user":{"username":"u"},"objectRef":{"resource":"leases","apiGroup":"coordination.k8s.io"},"responseStatus":{"code":201},"requestReceivedTimestamp":"2026-01-01T00:00:00Z"}
{"auditID":"1","stage":"ResponseComplete","requestURI":"/a","verb":"get","user":{"username":"u"},"objectRef":{"resource":"pods","namespace":"n","name":"p"},"responseStatus":{"code":404},"requestReceivedTimestamp":"2026-01-01T00:00:01.000001Z"}
{"auditID":"4","stage":"Requ`

func TestRead(t *testing.T) {
	got, err := read(strings.NewReader(lines), func(e event) bool { return e.User.Name == "u" })
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if got[0].Resource != "leases" || got[0].Code != 201 {
		t.Errorf("first %+v: requests are not in the order in which they came", got[0])
	}
	if got[1].Code != 404 || got[1].Name != "p" || got[1].URI != "/a" {
		t.Errorf("second %+v: its last stage does not count", got[1])
	}
}

func TestLog(t *testing.T) {
	if _, err := (Log{}).Requests("u"); !errors.Is(err, ErrNone) {
		t.Errorf("no log: %v", err)
	}
	log, flags, err := Prepare(t.TempDir())
	if err != nil || len(flags) != 3 {
		t.Fatal(flags, err)
	}
	if got, err := log.Requests("u"); len(got) != 0 || err != nil {
		t.Errorf("before the first request: %v, %v", got, err)
	}
	if err := os.WriteFile(log.path, []byte("{}\nno JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Requests("u"); err == nil || !strings.Contains(err.Error(), filepath.Base(log.path)) {
		t.Errorf("a broken log: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(lines))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = read(strings.NewReader(string(text)), func(event) bool { return true })
	})
}

package subid_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/subid"
)

func TestLargest(t *testing.T) {
	const text = "# a remark\nroot:1:2\nalice:100000:65536\nbob:1:x\nbob:7:65535\n1500:300000:10\nalice:900000:70000:1\nalice:abc:70000\n:5:70000\n"
	file := filepath.Join(t.TempDir(), "subuid")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		uid  int
		name string
		want subid.Range
	}{
		{1000, "alice", subid.Range{First: 100000, Count: 65536}},
		{1001, "bob", subid.Range{First: 7, Count: 65535}},
		{1500, "carol", subid.Range{First: 300000, Count: 10}},
		{1600, "", subid.Range{}},
	} {
		if got, err := subid.Largest(file, tt.uid, tt.name); err != nil || got != tt.want {
			t.Errorf("%s: %+v (%v), want %+v", tt.name, got, err, tt.want)
		}
	}
}

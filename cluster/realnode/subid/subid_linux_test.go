package subid_test

import (
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/subid"
)

func TestLargest(t *testing.T) {
	const text = "# a remark\nroot:1:2\nalice:100000:65536\nbob:1:x\nbob:7:65535\n1500:300000:10\nalice:900000:70000:1\n:5:70000\n"
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
		if got := subid.Largest(text, tt.uid, tt.name); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

package realnode

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// TestPanicsAreCounted: a panic counts once, whether the kubelet goes on, or ends before or after its report is read,
// or reports nothing.
func TestPanicsAreCounted(t *testing.T) {
	const report, other = nodeconfig.PanicMark + "nil pointer\n", "an error: " + nodeconfig.PanicMark + "\n"
	for name, tt := range map[string]struct {
		happens []string // lines, and an empty one for a crash
		want    int
	}{
		"recovered":      {[]string{other, report, other, report}, 2},
		"reported first": {[]string{report, ""}, 1},
		"reported last":  {[]string{other, "", report}, 1},
		"unreported":     {[]string{other, ""}, 1},
		"none":           {[]string{other}, 0},
	} {
		var m member
		var shown bytes.Buffer
		log := &nodeLog{to: &shown, panics: &m.panics}
		want := ""
		for _, what := range tt.happens {
			if want += what; what == "" {
				log.crashed()
			} else {
				fmt.Fprint(log, what)
			}
		}
		n := &Nodes{members: map[string]*member{"a": &m, "b": {}}}
		if got := n.Panics(); got != tt.want || shown.String() != want {
			t.Errorf("%s: %d panics, want %d; passed on: %q", name, got, tt.want, shown.String())
		}
	}
	var m member
	if n, err := fmt.Fprint(&nodeLog{panics: &m.panics}, report); n != len(report) || err != nil || m.panics.Load() != 1 {
		t.Errorf("without a log: %d, %v, %d panics", n, err, m.panics.Load())
	}
}

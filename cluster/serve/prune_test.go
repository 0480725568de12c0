package serve

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/protocol"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// TestPrunedOfHostileNode: a node names images and sizes, and nothing else reaches the user.
func TestPrunedOfHostileNode(t *testing.T) {
	id := "sha256:" + strings.Repeat("a", 64)
	for _, step := range []struct {
		image nodeconfig.PrunedImage
		want  protocol.PrunedImage
	}{
		{nodeconfig.PrunedImage{Tag: "index.docker.io/library/op:v1", ID: id, Bytes: 7}, protocol.PrunedImage{Node: "n", Name: "index.docker.io/library/op:v1", Digest: id, Bytes: 7}},
		{nodeconfig.PrunedImage{Tag: "\x1b[2J", ID: "sha256:\n", Bytes: -1}, protocol.PrunedImage{Node: "n"}},
		{nodeconfig.PrunedImage{Bytes: 1 << 62}, protocol.PrunedImage{Node: "n", Bytes: maxImage}},
	} {
		if got := ofNode("n", step.image); got != step.want {
			t.Errorf("%+v is %+v, want %+v", step.image, got, step.want)
		}
	}
}

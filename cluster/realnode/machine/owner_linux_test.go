package machine

import (
	"errors"
	"os"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/subid"
)

// TestRootLeavesUsersTheirIDs: the ids of root's nodes belong to nobody else, whosever the folder was.
func TestRootLeavesUsersTheirIDs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has ranges of ids")
	}
	state := t.TempDir()
	base, err := owned(state)
	if err != nil || base < firstID || base%idRange != 0 {
		t.Fatalf("a new folder belongs to %d (%v)", base, err)
	}
	if again, err := owned(state); err != nil || again != base {
		t.Errorf("and then to %d (%v)", again, err)
	}
	if err := os.Chown(state, 1000, 1000); err != nil {
		t.Fatal(err)
	}
	if base, err := owned(state); !errors.Is(err, errNotOurs) {
		t.Errorf("nodes take the ids from %d on over (%v)", base, err)
	}
}

func TestKeptIDsMayHaveBeenGivenAway(t *testing.T) {
	const base = firstID + 5*idRange
	for _, tt := range []struct {
		reserved subid.Range
		kept     bool
	}{
		{subid.Range{First: base - 10, Count: 10}, true}, {subid.Range{First: base - 10, Count: 11}, false},
		{subid.Range{First: base + idRange, Count: 1}, true}, {subid.Range{First: base + idRange - 1, Count: 1}, false},
	} {
		if err := checkOwner("state", base, []subid.Range{tt.reserved}); (err == nil) != tt.kept {
			t.Errorf("beside %+v: %v", tt.reserved, err)
		}
	}
}

package machine

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/subid"
)

// The ids from 0x70000000 on are nobody's by the conventions of Linux distributions. Clusters get different ranges of
// them.
const (
	firstID  = 0x70000000
	idRanges = 1 << 11
)

// errNotOurs says that files of nodes belong to somebody else. Unlike what a system forbids, it is nothing that other
// nodes are the answer to.
var errNotOurs = errors.New("the ids of root's nodes belong to users")

// owned gives the state folder of root's machine to the first id of a range that nothing else on the host uses, and
// returns that. A folder that has been given away keeps its owner: its files are theirs.
func owned(state string) (int, error) {
	var s unix.Stat_t
	if err := unix.Stat(state, &s); err != nil {
		return 0, fmt.Errorf("look at %s: %w", state, err)
	}
	reserved, err := subid.Reserved("/")
	if err != nil {
		return 0, err
	}
	if s.Uid != 0 {
		return int(s.Uid), keepable(state, int(s.Uid), reserved)
	}
	running, err := subid.Running("/proc")
	if err != nil {
		return 0, err
	}
	r, err := subid.Free(subid.Range{First: firstID, Count: idRanges * idRange}, idRange, int(s.Ino%idRanges), slices.Concat(reserved, running))
	if err != nil {
		return 0, err
	}
	if err := os.Chown(state, r.First, r.First); err != nil {
		return 0, fmt.Errorf("give %s to the nodes: %w", state, err)
	}
	return r.First, nil
}

// keepable says why the owner of a state folder cannot be that of root's nodes. An ordinary user's folder would give
// them the ids of the users that follow.
func keepable(state string, base int, reserved []subid.Range) error {
	switch r := (subid.Range{First: base, Count: idRange}); {
	case base < firstID || base >= firstID+idRanges*idRange || base%idRange != 0:
		return fmt.Errorf("%w: the nodes' folder %s belongs to user %d, which root's nodes do not use: start the cluster as that user, "+
			"or delete it first (slipway cluster delete)", errNotOurs, state, base)
	case r.Overlaps(reserved):
		return fmt.Errorf("%w: the ids %d to %d, to which the nodes' folder %s belongs, were given to users since, by /etc/subuid, /etc/subgid, /etc/passwd or /etc/group: "+
			"take them back there, or delete the cluster (slipway cluster delete)", errNotOurs, base, base+idRange-1, state)
	}
	return nil
}

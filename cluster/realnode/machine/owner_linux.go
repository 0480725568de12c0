package machine

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/subid"
)

// Linux distributions give no ids from 0x70000000 on to users. Each cluster gets its own range of them.
const (
	firstID  = 0x70000000
	idRanges = 1 << 11
)

// errNotOurs means that users own the ids of the nodes' files. Unlike [ErrForbidden] it does not make plain nodes
// replace isolated ones.
var errNotOurs = errors.New("the ids of root's nodes belong to users")

// owned returns the first id of the range that owns root's state folder. For a new folder it chooses a range that
// nothing else on the host uses. A folder with another owner keeps it, because its files belong to that range.
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
		return int(s.Uid), checkOwner(state, int(s.Uid), reserved)
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

// checkOwner returns an error if the state folder's owner must not be the root of root's nodes. With an ordinary user's
// folder, the nodes would get the ids of that user and the next ones.
func checkOwner(state string, base int, reserved []subid.Range) error {
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

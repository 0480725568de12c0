package clusterctl

import (
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/owner"
)

// sessionDir is how the folders of tied clusters are called, as a pattern for [os.MkdirTemp].
const sessionDir = "slipway-session-*"

// abandoned is the age from which a folder whose cluster does not run is left over
// and not one that is about to begin.
const abandoned = time.Minute

// sweep removes the folders of tied clusters whose starters were killed: such a
// cluster ends by itself, but its data stay. Folders of other users are not looked into: what they hold would be
// believed, such as the place of a socket to remove.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), sessionDir))
	if err != nil {
		return // the name of the temporary folder is no pattern
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !owner.IsUser(info) || time.Since(info.ModTime()) < abandoned {
			continue
		}
		if s := session("", dir); isOver(s) {
			_, _ = s.Remove()
		}
	}
}

func isOver(s state.Cluster) bool {
	alive, err := s.Alive()
	return err == nil && !alive
}

package clusterctl

import (
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// sessionPrefix begins the names of the folders of tied clusters.
const sessionPrefix = "slipway-session-"

// abandoned is the age from which a folder whose cluster does not run is left over and not one that is about to begin:
// a program outlives a starter that was killed for a moment.
const abandoned = time.Minute

// sweep removes the folders of tied clusters whose starters were killed: such a cluster ends by itself, but its data
// stay.
func (c *Control) sweep() {
	for left := range userdirs.Left(os.TempDir(), sessionPrefix) {
		info, err := os.Stat(left.Path)
		if cl := c.session("", left); err == nil && time.Since(info.ModTime()) >= abandoned && isOver(cl) {
			_ = discard(left, cl)
			continue
		}
		left.Release()
	}
}

// session is the state of a tied cluster, of which there is no more than a folder.
func (c *Control) session(name string, folder userdirs.Scratch) state.Cluster {
	if name == "" {
		name = DefaultName
	}
	return state.Cluster{Name: name, Dir: filepath.Join(folder.Path, "cluster"), Remover: c.programs.ContainerPath}
}

// discard removes the folder of a tied cluster, where the cluster's state has its own ways.
func discard(folder userdirs.Scratch, cl state.Cluster) error {
	if _, err := cl.Remove(); err != nil {
		folder.Release()
		return err // the mark stays, and a later start tries again
	}
	return folder.Remove()
}

func isOver(s state.Cluster) bool {
	alive, err := s.Alive()
	return err == nil && !alive
}

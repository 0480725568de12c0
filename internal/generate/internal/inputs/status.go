package inputs

import (
	"io/fs"
	"time"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// status is what a file system says about a file without reading it.
type status struct {
	kind     kind
	size     int64
	modified int64 // in nanoseconds since 1970
	changed  int64 // the same for the status; 0 where there is no such time
	inode    uint64
}

type kind byte

const (
	absent  kind = '-'
	regular kind = 'f'
	folder  kind = 'd'
	special kind = 's'
)

func kindOf(info fs.FileInfo) kind {
	switch {
	case info.Mode().IsRegular():
		return regular
	case info.IsDir():
		return folder
	}
	return special
}

func statusOf(info fs.FileInfo) status {
	s := status{kind: kindOf(info), modified: info.ModTime().UnixNano()}
	if s.kind == regular {
		s.size = info.Size()
	}
	s.changed, s.inode = safefs.Details(info)
	return s
}

// isSettled reports whether every later change would show in the times.
func (s status) isSettled(now time.Time) bool {
	return max(s.modified, s.changed) < now.Add(-settled).UnixNano()
}

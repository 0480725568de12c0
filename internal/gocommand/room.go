package gocommand

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// Explain concludes from what a command said before it failed, and from the folders that it works in, that it was a
// folder's fault and not that of what was compiled. It is nil if nothing is known of such a fault. Out is where the
// command was to write.
func (e *Environment) Explain(said, out string) *report.Error {
	temp := cmp.Or(e.settings["GOTMPDIR"], os.Getenv("GOTMPDIR"), os.TempDir())
	if made, err := os.MkdirTemp(temp, "slipway-"); err != nil {
		return &report.Error{What: "cannot use the folder for temporary files", Where: temp, Err: err,
			Hint: "set TMPDIR, or GOTMPDIR for the go command, to another folder"}
	} else {
		_ = os.Remove(made)
	}
	if !isFull(said) {
		return nil
	}
	where, free := fullest(temp, e.settings["GOCACHE"], e.settings["GOMODCACHE"], out)
	return &report.Error{What: "the disk is full", Where: where, Err: syscall.ENOSPC,
		Hint: fmt.Sprintf("%d MiB are free; to use another disk, set TMPDIR for temporary files, GOCACHE for compiled packages, SLIPWAY_CACHE for slipway's own files", free>>20)}
}

// isFull says whether a program gave up because of a full disk. It is another process, so the system's text for that is
// all there is.
func isFull(said string) bool {
	return strings.Contains(said, syscall.ENOSPC.Error()) || strings.Contains(said, quota.Error())
}

// fullest is the folder with the least room.
func fullest(folders ...string) (where string, free uint64) {
	folders = slices.DeleteFunc(folders, func(dir string) bool { return dir == "" })
	where = slices.MinFunc(folders, func(a, b string) int { return cmp.Compare(room(a), room(b)) })
	return where, room(where)
}

// room is how many bytes are free for the user on a folder's disk. A disk that does not say so has the most.
func room(dir string) uint64 {
	if free, known := safefs.FreeSpace(dir); known {
		return free
	}
	return math.MaxUint64
}

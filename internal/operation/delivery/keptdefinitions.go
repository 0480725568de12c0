package delivery

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// What the folder of definitions keeps. A file is small, but each change of a project's dependencies makes another.
const (
	mostDefinitions      = 32                  // files, as long as they are used
	forgottenDefinitions = 30 * 24 * time.Hour // without use, after which a file goes
	recentDefinitions    = 24 * time.Hour      // since the last use, within which none goes: a suite may run
)

// useDefinitions notes that a file of definitions is used: its time is that of the last use. It changes once a day at
// most, since go test runs a suite again when a file that it read has another time.
func useDefinitions(path string, now time.Time) {
	info, err := os.Stat(path)
	if err == nil && now.Sub(info.ModTime()) > recentDefinitions/2 {
		_ = os.Chtimes(path, now, now) // a cache that cannot be written is never pruned either
	}
}

// definitionsName matches the names of these files. The user may have made any folder the cache, and other files lie
// there then.
var definitionsName = lazy.Regexp(`^[0-9a-f]{64}\.yaml$`)

// pruneDefinitions removes the files that were not used for a long time, and the oldest of those that are too many.
// What cannot be removed stays until the next time.
func pruneDefinitions(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && definitionsName().MatchString(e.Name()) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for i, f := range files {
		age := now.Sub(f.ModTime())
		if age > forgottenDefinitions || i >= mostDefinitions && age > recentDefinitions {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

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

// Limits of the folder with CRD files. Each change of a project's dependencies adds a file.
const (
	mostDefinitions      = 32                  // files that are kept
	forgottenDefinitions = 30 * 24 * time.Hour // a file not used for so long is deleted
	recentDefinitions    = 24 * time.Hour      // a file used within this time stays: a suite may run
)

// useDefinitions records the last use of a file in its modification time. It does so at most twice a day: go test runs
// a suite again if a file that it read has another time.
func useDefinitions(path string, now time.Time) {
	info, err := os.Stat(path)
	if err == nil && now.Sub(info.ModTime()) > recentDefinitions/2 {
		_ = os.Chtimes(path, now, now) // an unwritable cache is not pruned either
	}
}

// definitionsName matches the names of these files. The user may choose any folder as the cache, so it may hold other
// files.
var definitionsName = lazy.Regexp(`^[0-9a-f]{64}\.yaml$`)

// pruneDefinitions deletes files that were not used for long, and the oldest above the limit. It ignores failures.
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

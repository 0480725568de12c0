// Package cachefolder locates the folders in which slipway keeps what it can make again, and what belongs beside that:
//
//	root, err := cachefolder.Root(os.Getenv)
//
// Each part has folders of its own below [Root]: programs, images, runs of generators, answers of other programs.
// Only [Locks] lies elsewhere, since two commands of one user must agree on it.
package cachefolder

import (
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/refuge"
	"github.com/slipway-dev/slipway/internal/report"
)

// Variable is the environment variable that names another folder for [Root].
const Variable = "SLIPWAY_CACHE"

// folder is slipway's folder in the user's cache.
const folder = "slipway"

// Root is slipway's cache: the folder that SLIPWAY_CACHE names, else slipway in the user's cache folder. It need
// not exist. The error is a [report.Error] about a user who has no cache folder.
func Root(getenv func(string) string) (string, error) {
	if dir := getenv(Variable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", &report.Error{What: "no folder for the programs that slipway builds", Err: err, Hint: "set HOME to your home folder, or SLIPWAY_CACHE to a folder that you may write to"}
	}
	return filepath.Join(dir, folder), nil
}

// Locks is the folder of the locks by which commands wait for each other; it need not exist. All commands of a user
// must use the same one: SLIPWAY_CACHE does not move it, and a user without a cache folder has one where the system
// keeps temporary files. There the error is that the folder is not this user's alone.
func Locks() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		if dir, err = refuge.Make(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, folder, "locks"), nil
}

package userdirs

import (
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// CacheVariable is the environment variable that names another folder for [Cache].
const CacheVariable = "SLIPWAY_CACHE"

// folder is slipway's folder in the user's cache.
const folder = "slipway"

// Cache is slipway's cache: the folder that SLIPWAY_CACHE names, else slipway in the user's cache folder. It need
// not exist. The error is a [report.Error] about a user who has no cache folder.
func Cache(getenv func(string) string) (string, error) {
	if dir := getenv(CacheVariable); dir != "" {
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
		if dir, err = MakePrivate(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, folder, "locks"), nil
}

// Package refuge is a user's own folder below the system's temporary one, for what has no other place. Any user can
// make a folder of that name there before, and plant links in it.
//
//	dir, err := refuge.Make()
package refuge

import (
	"os"
	"path/filepath"
	"strconv"
)

// Path is where the folder is, or would be.
func Path() string { return filepath.Join(os.TempDir(), "slipway-"+strconv.Itoa(os.Getuid())) }

// Make makes the folder, and refuses one that is there and is not this user's alone.
func Make() (dir string, err error) {
	dir = Path()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, private(dir)
}

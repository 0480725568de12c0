package safefs

import (
	"io/fs"
	"os"
)

// mounted is no question on Windows.
func mounted(error) bool { return false }

// hasOtherNames is not known here.
func hasOtherNames(fs.FileInfo) bool { return false }

// keepOwner has nothing to do: a new file has the rights of its folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// syncFolder has nothing to do: folders cannot be synced on Windows, whose file systems keep a journal of names.
func (disk) syncFolder(string) error { return nil }

package safefs

import (
	"fmt"
	"io/fs"
	"os"
)

// Identity reports the file at a path, links followed, from every other one that was or will be there: by its size, its
// inode and its times. Among these is that of the last change of status, which no program can set, so a file that was
// put there with the size and the time of another one is not taken for it. It is no answer on systems without such a
// time.
func Identity(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return IdentityOf(path, info), nil
}

// IdentityOf is [Identity] of a file whose info is known already.
func IdentityOf(path string, info fs.FileInfo) string {
	changed, inode := Details(info)
	return fmt.Sprintf("%s %d %d %d %d", path, info.Size(), info.ModTime().UnixNano(), changed, inode)
}

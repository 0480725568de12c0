// Package fileid reports files apart without reading them.
//
//	before, err := fileid.Of(program)
//	… later …
//	now, err := fileid.Of(program) // equal: it is the file that it was
package fileid

import (
	"fmt"
	"io/fs"
	"os"
)

// Of reports the file at a path, links followed, from every other one that was or will be there: by its size, its inode
// and its times. Among these is that of the last change of status, which no program can set, so a file that was put
// there with the size and the time of another one is not taken for it. It is no answer on systems without such a time.
func Of(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return At(path, info), nil
}

// At is [Of] a file that is known already.
func At(path string, info fs.FileInfo) string {
	changed, inode := Details(info)
	return fmt.Sprintf("%s %d %d %d %d", path, info.Size(), info.ModTime().UnixNano(), changed, inode)
}

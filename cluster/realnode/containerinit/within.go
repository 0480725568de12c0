package containerinit

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the links in a path, as the kernel does.
const maxLinks = 40

// Within returns the real path of path in the tree below root, with links resolved as if root were /. The result holds
// while no process changes the tree. Within fails with ELOOP at more links than the kernel follows.
func Within(root, path string) (string, error) {
	at, links := root, 0
	parts := strings.Split(path, "/")
	for len(parts) > 0 {
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if at != root {
				at = filepath.Dir(at)
			}
			continue
		}
		next := filepath.Join(at, part)
		to, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "find", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(to) {
			at = root
		}
		parts = append(strings.Split(to, "/"), parts...)
	}
	return at, nil
}

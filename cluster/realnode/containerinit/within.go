package containerinit

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links a path may lead over, as in the kernel.
const maxLinks = 40

// Within is where path lies in the tree below root, whose links are followed as if root were the root. Nothing of the
// container runs yet, so nothing changes meanwhile. It fails with ELOOP where there are more links than the kernel
// follows, which would follow them out of the root.
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

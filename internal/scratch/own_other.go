//go:build !unix

package scratch

import "io/fs"

// isOwn: each user has a folder of their own for temporary files there.
func isOwn(fs.FileInfo) bool { return true }
